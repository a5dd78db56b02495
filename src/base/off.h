/* SPDX-License-Identifier: MIT */
/* LAPWING=off: this process is to run as if Lapwing were not there. */
#ifndef BASE_OFF_H
#define BASE_OFF_H

#include <stdbool.h>

/* Looked at once, by whoever asks first. Any thread, before or after constructors; no allocation. */
bool base_off_is(void);

#endif
