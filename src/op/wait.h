/* SPDX-License-Identifier: MIT */
/* Waiting for ops on behalf of calls that are about to use memory. For every
 * interposed entry, MPI's and libc's; the implementation knows engine and
 * protect. Not for signal context. */
#ifndef OP_WAIT_H
#define OP_WAIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "protect/protect.h"

/* Waits until no armed hold forbids this access to these bytes. `is_read` when
 * the call only reads them. Returns at once when nothing is armed, and inside
 * MPI's own code (the engine thread, or a thread that is in an MPI call). */
void wait_range(struct range bytes, bool is_read);

/* The same, by a call that would have waited as long in MPI: it speaks for no other way to send. */
void wait_range_uncounted(struct range bytes, bool is_read);

/* As wait_range() for a call of libc's, which a function of the program's may make that MPI calls. Under
 * MPI_THREAD_MULTIPLE such a call, too, waits where memory cannot be read in place, if it would fail there; one that
 * writes to what is being sent in place still does. */
void wait_call_range(struct range bytes, bool is_read);

/* Waits for every pending op (exec, exit, calls of unknown effect). */
void wait_all(void);

/* Waits for every op that the calling thread must take for ended: before it looks
 * at what others may have left for it outside MPI (files). With several threads
 * these are its own: another's receive, whose call has only returned early, may
 * itself depend on what this thread is about to do. */
void wait_known(void);

/* Before the process is copied: waits until nothing is being received, so that the copy
 * has all data. Where other threads' messages do not come for ten seconds, which may be
 * for want of what this thread does next, it goes on without them, once and for all: see
 * protect_inherit(). */
void wait_copied(void);

static inline void wait_read(const void *address, size_t length_bytes)
{
    if (protect_armed_is_any())
        wait_call_range(base_range_of(address, length_bytes), true);
}

static inline void wait_write(const void *address, size_t length_bytes)
{
    if (protect_armed_is_any())
        wait_call_range(base_range_of(address, length_bytes), false);
}

#endif
