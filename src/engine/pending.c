/* SPDX-License-Identifier: MIT */
#include "engine/pending.h"

#include <sched.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/futex.h"
#include "engine/sockets.h"

struct engine_pending engine_pending_state;

uint32_t engine_pending_work(void)
{
    /* acquire: pairs with whoever begins. */
    return atomic_load_explicit(&engine_pending_state.work, memory_order_acquire);
}

/* The engine may be asleep in epoll when the program ends the last of its work: it
 * must not be woken by the program's next messages, least of all where ranks
 * measure time by them. Seen: every MPI_Barrier after an overlapped exchange was
 * left 30 us later by one rank than by the other, and Open MPI then sent two
 * messages of 4 MiB that cross one after the other. */
static void pending_work_end(uint32_t number)
{
    /* seq_cst: either we see what began meanwhile, or its beginner comes after our
     * deafening and undoes it. */
    bool is_last = atomic_fetch_sub_explicit(&engine_pending_state.work, number, memory_order_seq_cst) == number;
    if (number == 0 || !is_last)
        return;
    engine_sockets_listen(false);
    if (engine_pending_work() != 0)
        engine_sockets_listen(true);
}

static void pending_work_add(void)
{
    /* relaxed: ordered by `work`. */
    atomic_store_explicit(&engine_pending_state.begun_last_ns, base_clock_now_ns(), memory_order_relaxed);
    /* seq_cst: see pending_work_end(); and the engine sees what was begun when it sees the number. */
    if (atomic_fetch_add_explicit(&engine_pending_state.work, 1, memory_order_seq_cst) != 0)
        return;
    engine_sockets_listen(true);
    engine_pending_wake();
}

int64_t engine_pending_begun_last_ns(void)
{
    return atomic_load_explicit(&engine_pending_state.begun_last_ns, memory_order_relaxed);
}

uint32_t engine_pending_poll(void)
{
    uint32_t ended = 0;
    if (engine_pending() == 0 || !base_lock_try(&engine_pending_state.lock))
        return 0;
    for (struct engine_pending_op **link = &engine_pending_state.list; *link != NULL;) {
        struct engine_pending_op *op = *link;
        struct engine_pending_op *next = op->next;
        bool is_schedule = op->is_schedule; /* an op that is over is another's */
        if (op->test(op)) {
            *link = next;
            atomic_fetch_sub_explicit(&engine_pending_state.schedules, is_schedule, memory_order_relaxed);
            ended++;
        } else {
            link = &op->next;
        }
    }
    /* release: pairs with engine_pending(). */
    atomic_fetch_sub_explicit(&engine_pending_state.ops, ended, memory_order_release);
    base_lock_release(&engine_pending_state.lock);
    pending_work_end(ended);
    return ended;
}

void engine_pending_add(struct engine_pending_op *op)
{
    base_lock_take(&engine_pending_state.lock);
    /* At the end: ops are tested in the order in which they began. */
    struct engine_pending_op **link = &engine_pending_state.list;
    while (*link != NULL)
        link = &(*link)->next;
    op->next = NULL;
    *link = op;
    /* relaxed: it only sets a pace */
    atomic_fetch_add_explicit(&engine_pending_state.schedules, op->is_schedule, memory_order_relaxed);
    atomic_fetch_add_explicit(&engine_pending_state.ops, 1, memory_order_release); /* pairs with engine_pending() */
    base_lock_release(&engine_pending_state.lock);
    pending_work_add();
}

/* Whoever else has the lock gives it back soon; the frame that this handler
 * interrupted never does, and then nobody can take it any more either. */
void engine_pending_freeze(void)
{
    enum { TRIES_MAX = 1000 };
    for (int i = 0; i < TRIES_MAX && !base_lock_try(&engine_pending_state.lock); i++)
        sched_yield();
}

bool engine_pending_has_schedules(void)
{
    return engine_pending_assists() || atomic_load_explicit(&engine_pending_state.schedules, memory_order_relaxed) != 0;
}

bool engine_pending_assists(void)
{
    /* relaxed: exact inside the gate, where alone it ends; a hint elsewhere. */
    return atomic_load_explicit(&engine_pending_state.assisted, memory_order_relaxed) != 0;
}

void engine_pending_assist_begin(void)
{
    atomic_fetch_add_explicit(&engine_pending_state.assisted, 1, memory_order_relaxed); /* ordered by `work` */
    pending_work_add();
}

void engine_pending_assist_end(void)
{
    atomic_fetch_sub_explicit(&engine_pending_state.assisted, 1, memory_order_relaxed); /* the gate orders it */
    pending_work_end(1);
}

void engine_pending_wait(void)
{
    base_futex_wait(&engine_pending_state.work, 0, -1);
}

void engine_pending_wake(void)
{
    base_futex_wake(&engine_pending_state.work, 1);
}

void engine_pending_forked_child(void)
{
    engine_pending_state.list = NULL;
    atomic_store_explicit(&engine_pending_state.lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_state.ops, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_state.work, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_state.assisted, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_state.schedules, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_state.held, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_state.waiters, 0, memory_order_relaxed);
}
