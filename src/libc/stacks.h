/* SPDX-License-Identifier: MIT */
/* The stacks of the program's threads. The first one's has a name in the kernel's list. */
#ifndef LIBC_STACKS_H
#define LIBC_STACKS_H

#include <stdbool.h>

#include "base/range.h"

/* MPI is being set up: from here on each new thread's stack is noted, and now those of the threads that are there
 * already. A process that never comes here has its threads made by libc alone. */
void libc_stacks_watch(void);
bool libc_stacks_are_watched(void);

/* This thread's, or those of all threads that are there but this one and MPI's. */
void libc_stacks_enter(void);
void libc_stacks_enter_existing(void);

/* Do these bytes lie among the first thread's thread-local variables (thread_local.h), or on the stack of a thread that
 * the program started (or may they, when there are more threads than are known)? A held page of a stack would stop its
 * thread, and a signal could not be delivered to it. */
bool libc_stacks_contain(struct range bytes);

#endif
