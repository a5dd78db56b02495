/* SPDX-License-Identifier: MIT */
#include "engine/pending.h"

#include <sched.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/lock.h"
#include "engine/sockets.h"

_Atomic uint32_t engine_pending_count;
_Atomic uint32_t engine_pending_waiters;

/* lock: whoever reads or changes the list. work: ops and assisted operations; the
 * futex that a parked engine sleeps on. All: whoever begins and ends them. */
static struct {
    struct base_lock lock;
    struct engine_pending_op *list;
    _Atomic uint32_t work;
    _Atomic uint32_t assisted;
    _Atomic int64_t begun_last_ns;
} pending;

uint32_t engine_pending_work(void)
{
    /* acquire: pairs with whoever begins. */
    return atomic_load_explicit(&pending.work, memory_order_acquire);
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
    bool is_last = atomic_fetch_sub_explicit(&pending.work, number, memory_order_seq_cst) == number;
    if (number == 0 || !is_last)
        return;
    engine_sockets_listen(false);
    if (engine_pending_work() != 0)
        engine_sockets_listen(true);
}

static void pending_work_add(void)
{
    /* relaxed: ordered by `work`. */
    atomic_store_explicit(&pending.begun_last_ns, base_clock_now_ns(), memory_order_relaxed);
    /* seq_cst: see pending_work_end(); and the engine sees what was begun when it sees the number. */
    if (atomic_fetch_add_explicit(&pending.work, 1, memory_order_seq_cst) != 0)
        return;
    engine_sockets_listen(true);
    engine_pending_wake();
}

int64_t engine_pending_begun_last_ns(void)
{
    return atomic_load_explicit(&pending.begun_last_ns, memory_order_relaxed);
}

uint32_t engine_pending_poll(void)
{
    uint32_t ended = 0;
    if (engine_pending() == 0 || !base_lock_try(&pending.lock))
        return 0;
    for (struct engine_pending_op **link = &pending.list; *link != NULL;) {
        struct engine_pending_op *op = *link;
        struct engine_pending_op *next = op->next;
        if (op->test(op)) {
            *link = next;
            ended++;
        } else {
            link = &op->next;
        }
    }
    /* release: pairs with engine_pending(). */
    atomic_fetch_sub_explicit(&engine_pending_count, ended, memory_order_release);
    base_lock_release(&pending.lock);
    pending_work_end(ended);
    return ended;
}

void engine_pending_add(struct engine_pending_op *op)
{
    base_lock_take(&pending.lock);
    /* At the end: ops are tested in the order in which they began. */
    struct engine_pending_op **link = &pending.list;
    while (*link != NULL)
        link = &(*link)->next;
    op->next = NULL;
    *link = op;
    atomic_fetch_add_explicit(&engine_pending_count, 1, memory_order_release); /* pairs with engine_pending() */
    base_lock_release(&pending.lock);
    pending_work_add();
}

/* Whoever else has the lock gives it back soon; the frame that this handler
 * interrupted never does, and then nobody can take it any more either. */
void engine_pending_freeze(void)
{
    enum { TRIES_MAX = 1000 };
    for (int i = 0; i < TRIES_MAX && !base_lock_try(&pending.lock); i++)
        sched_yield();
}

bool engine_pending_assists(void)
{
    /* relaxed: exact inside the gate, where alone it ends; a hint elsewhere. */
    return atomic_load_explicit(&pending.assisted, memory_order_relaxed) != 0;
}

void engine_pending_assist_begin(void)
{
    atomic_fetch_add_explicit(&pending.assisted, 1, memory_order_relaxed); /* ordered by `work` */
    pending_work_add();
}

void engine_pending_assist_end(void)
{
    atomic_fetch_sub_explicit(&pending.assisted, 1, memory_order_relaxed); /* the gate orders it */
    pending_work_end(1);
}

void engine_pending_wait(void)
{
    base_futex_wait(&pending.work, 0, -1);
}

void engine_pending_wake(void)
{
    base_futex_wake(&pending.work, 1);
}

void engine_pending_forked_child(void)
{
    pending.list = NULL;
    atomic_store_explicit(&pending.lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_count, 0, memory_order_relaxed);
    atomic_store_explicit(&pending.work, 0, memory_order_relaxed);
    atomic_store_explicit(&pending.assisted, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_waiters, 0, memory_order_relaxed);
}
