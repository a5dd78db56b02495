/* SPDX-License-Identifier: MIT */
#ifndef LIBC_PRESENCE_H
#define LIBC_PRESENCE_H

#include <stdbool.h>

/* May any library of this process, apart from Lapwing's own, define a function of this name? Allocates
 * nothing, in contrast to a dlsym() that fails. */
bool libc_presence_of(const char *name);

#endif
