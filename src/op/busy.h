/* SPDX-License-Identifier: MIT */
/* Who may be in MPI. The number is what the first line of every MPI entry looks at: 0 when a call may go straight to
 * MPI. It counts what forbids that: each pending op, each late error not yet reported, and 1 for ever under
 * MPI_THREAD_MULTIPLE. (Small messages look at the table of straight.h instead, which is closed while it is not 0.)
 * It stands beside that table. */
#ifndef OP_BUSY_H
#define OP_BUSY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "op/straight.h"

static inline bool busy_is_clear(void)
{
    /* acquire: pairs with busy_lower(), so that MPI's state as the engine left it
     * is seen. Below MPI_THREAD_MULTIPLE one program thread is in MPI at a time,
     * and only such a thread raises the number: it sees its own writes, and the
     * program's own synchronisation hands them to its other threads. The engine
     * lowers it only after its last MPI call for that op. */
    return atomic_load_explicit(&straight.busy_count, memory_order_acquire) == 0;
}

static inline bool busy_is_shared(void)
{
    return straight.is_shared;
}

static inline void busy_raise(void)
{
    straight_close();
    /* seq_cst: pairs with gate_others_inside(), see gate_enter(). */
    atomic_fetch_add_explicit(&straight.busy_count, 1, memory_order_seq_cst);
}

static inline void busy_lower(void)
{
    /* release: the thread that next finds the way free sees the engine's work. */
    atomic_fetch_sub_explicit(&straight.busy_count, 1, memory_order_release);
}

#endif
