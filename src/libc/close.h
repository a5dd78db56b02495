/* SPDX-License-Identifier: MIT */
#ifndef LIBC_CLOSE_H
#define LIBC_CLOSE_H

#include <stdbool.h>

/* Does a system call by number that may close descriptors, as its function does; false for any other. */
bool libc_close_does(long number, long a, long b, long c, long *result);

#endif
