/* SPDX-License-Identifier: MIT */
/* For what the kernel refuses now and may give in a moment: memory, mostly. */
#ifndef BASE_PATIENCE_H
#define BASE_PATIENCE_H

#include <stdbool.h>

/* A second in all. */
enum { BASE_PATIENCE_PAUSES = 1000 };

/* Pauses for a millisecond; false, at once, when none of these pauses are left. As base_clock_pause(): safe where
 * libc's locks may be held. */
bool base_patience_pause(int *pauses_left);

#endif
