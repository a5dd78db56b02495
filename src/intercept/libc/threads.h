/* SPDX-License-Identifier: MIT */
#ifndef LIBC_THREADS_H
#define LIBC_THREADS_H

#include <stdbool.h>

/* Has the program started a thread of its own? Those that MPI starts inside its
 * calls do not count: they do not touch the program's memory. */
bool libc_threads_are_several(void);

#endif
