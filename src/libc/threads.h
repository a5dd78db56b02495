/* SPDX-License-Identifier: MIT */
/* The program's threads. Those that MPI starts inside its own calls do not count:
 * they do not touch the program's memory. A program with one thread cannot race with its
 * own hold, and holds are cheaper then (protect_threads_set). */
#ifndef LIBC_THREADS_H
#define LIBC_THREADS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

/* What each thread has of its own in this folder.
 * newest_mapped: the block with a mapping of its own that the thread got last (allocate.c); it may be gone.
 * forks_told: a bit for each fork() that the thread is in, the innermost lowest, since handlers fork, too: is protect
 * told (process.c)?
 * is_entered: its stack is in the table, or the kernel says that it is one (stacks.c).
 * takes_own: memory of Lapwing's own is being taken or given back (own.c), maybe under a lock. */
extern __attribute__((visibility("hidden"))) _Thread_local struct libc_threads_own {
    const void *newest_mapped;
    uint32_t forks_told;
    bool is_entered;
    bool takes_own;
} libc_threads_own;

/* Has our constructor run? Before it at most threads of other constructors do. */
bool libc_threads_are_started(void);

/* Has the program started a thread of its own? */
bool libc_threads_are_several(void);

/* There is, or may be, a thread that pthread_create did not make. */
void libc_threads_note(void);

/* One begins with this function, or libc makes it for this code. */
void libc_threads_note_begun(uintptr_t code);

/* MPI is being set up: from here on the program's threads are told from MPI's, where they begin inside MPI, by the
 * function that they begin with: does it lie in the program's code (program_code.h)? Takes no lock. */
void libc_threads_watch(void);
bool libc_threads_begin_in_program(uintptr_t code);

/* Notes whether the kernel counts more threads than pthread_create made for MPI: those
 * of code that makes them past all entries. A system call, until there are several. */
void libc_threads_look(void);

/* pthread_create's function, or thrd_create's. */
union libc_threads_function {
    void *(*posix)(void *argument);
    thrd_start_t c11;
};

/* What a thread is given when it begins. opens: signals that were only deferred (gate.h) where it was made, and that it
 * is to have. next: for those that have read it. */
struct libc_threads_start {
    union libc_threads_function start;
    void *argument;
    uint64_t opens;
    bool is_of_mpi;
    struct libc_threads_start *next;
};

/* By who makes a thread (NULL: there is no memory), and by the thread. The thread does not free it itself: glibc would
 * make it a heap of its own for that, which costs memory and twice 64 MiB of addresses (malloc/arena.c). */
struct libc_threads_start *libc_threads_start_new(void);
void libc_threads_start_give_back(struct libc_threads_start *given);

/* What libc is to call in a thread that it makes itself, by the function that it is told in place of this one. */
typedef void libc_threads_timed_fn(union sigval value);
struct libc_threads_timed {
    _Atomic(libc_threads_timed_fn *) function; /* NULL: not written yet */
    union sigval value;
};

/* What the event says; NULL: there is no room for it. Never given back: timers call after their timer_delete(), too,
 * and nobody says when the last call is over. Events that say the same share one, and there are 256 at most, so that
 * a program that makes timers all the time pays nothing for them. */
struct libc_threads_timed *libc_threads_timed_of(const struct sigevent *event);

/* This thread is one that MPI started (gate_thread.is_of_mpi); MPI is about to start one. */
void libc_threads_enter_of_mpi(void);
void libc_threads_expect(void);

/* Is the thread with this number one that has said so? Has the thread ended? */
bool libc_threads_are_mpis(pid_t id);
bool libc_threads_has_ended(pid_t process, pid_t id);

#endif
