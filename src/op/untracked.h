/* SPDX-License-Identifier: MIT */
/* Small nonblocking messages of the program are only counted: to remember each
 * (requests.h) costs as much as MPI takes for one. The count is enough until a
 * buffer is to be held that shares a page with other data, or whose pages are to move
 * while they are sent; from then on all are tracked, and no such page is held before
 * those counted have ended. They are counted again once nobody has asked for long
 * (requests_begin_small()).
 *
 * One that the program gives up (MPI_Request_free) counts until it is over (mpi/freed.h). Counted too often would be
 * safe: such pages are then never held. So a message that goes straight is counted before MPI is called, and its entry
 * jumps there: one whose call fails counts for ever. */
#ifndef OP_UNTRACKED_H
#define OP_UNTRACKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* count: threads inside MPI, one at a time below MPI_THREAD_MULTIPLE (then plain
 * loads and stores do, an atomic addition would cost more than the rest).
 * is_shared: once at start. is_over: by who asks, until nobody has asked for long; the same threads.
 * tracked_count: of those that are tracked instead (requests.h). */
extern __attribute__((visibility("hidden"))) struct untracked {
    _Atomic int64_t count;
    _Atomic bool is_over;
    bool is_shared;
    _Atomic uint32_t tracked_count;
} untracked;

/* Below MPI_THREAD_MULTIPLE, as where a call goes straight to MPI. */
static inline void untracked_add_alone(int64_t number)
{
    atomic_store_explicit(&untracked.count, atomic_load_explicit(&untracked.count, memory_order_relaxed) + number,
                          memory_order_relaxed);
}

static inline void untracked_add(int64_t number)
{
    if (untracked.is_shared)
        atomic_fetch_add_explicit(&untracked.count, number, memory_order_relaxed);
    else
        untracked_add_alone(number);
}

/* Must all be tracked? */
static inline bool untracked_is_over(void)
{
    return atomic_load_explicit(&untracked.is_over, memory_order_relaxed);
}

/* A small message begins. False: it must be tracked. */
static inline bool untracked_begin(void)
{
    if (untracked_is_over())
        return false;
    untracked_add(1);
    return true;
}

/* Are there any to count down? Who completes a small message has counted it, or has its
 * request from who did, so that relaxed is enough to see it. */
static inline bool untracked_are_some(void)
{
    return atomic_load_explicit(&untracked.count, memory_order_relaxed) != 0;
}

/* From now on small messages are counted again. */
static inline void untracked_count_again(void)
{
    atomic_store_explicit(&untracked.is_over, false, memory_order_relaxed);
}

/* Somebody must know of every message from now on. True when some that were only
 * counted are still under way. */
static inline bool untracked_end_all(void)
{
    /* relaxed: the thread that asks is inside MPI, as those are that count. */
    atomic_store_explicit(&untracked.is_over, true, memory_order_relaxed);
    return atomic_load_explicit(&untracked.count, memory_order_relaxed) > 0;
}

#endif
