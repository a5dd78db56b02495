/* SPDX-License-Identifier: MIT */
/* The program's threads. Those that MPI starts inside its own calls do not count:
 * they do not touch the program's memory. A program with one thread cannot race with its
 * own hold, and holds are cheaper then (protect_threads_set). */
#ifndef LIBC_THREADS_H
#define LIBC_THREADS_H

#include <stdbool.h>
#include <sys/types.h>

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

/* This thread is one; MPI is about to start one. */
void libc_threads_enter_of_mpi(void);
void libc_threads_expect(void);

/* Is the thread with this number one that has said so? Has the thread ended? */
bool libc_threads_are_mpis(pid_t id);
bool libc_threads_has_ended(pid_t process, pid_t id);

#endif
