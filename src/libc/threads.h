/* SPDX-License-Identifier: MIT */
/* The program's threads. Those that MPI starts inside its own calls do not count:
 * they do not touch the program's memory. */
#ifndef LIBC_THREADS_H
#define LIBC_THREADS_H

#include <stdbool.h>

#include "base/pages.h"

/* MPI is being set up: from here on each new thread's stack is noted, and now those of the threads that are there
 * already. A process that never comes here has its threads made by libc alone. */
void libc_threads_watch(void);

/* Has the program started a thread of its own? */
bool libc_threads_are_several(void);

/* There is, or may be, a thread that pthread_create did not make. */
void libc_threads_note(void);

/* The same, said by an entry whose function starts threads inside libc: those that
 * MPI asks for do not count. */
void libc_threads_note_unless_mpis(void);

/* Notes whether the kernel counts more threads than pthread_create made for MPI: those
 * of code that makes them past all entries. A system call, until there are several. */
void libc_threads_look(void);

/* Is this a thread that MPI started (the engine among them)? */
bool libc_threads_is_of_mpi(void);

/* Do these bytes lie on the stack of a thread that the program started (or may
 * they, when there are more threads than are known)? A held page of a stack would
 * stop its thread, and a signal could not be delivered to it. */
bool libc_threads_own_stack(struct range bytes);

#endif
