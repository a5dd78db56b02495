/* SPDX-License-Identifier: MIT */
/* What is under way: the list of pending ops, how many operations of the program are
 * assisted, and who waits. Ops and assisted operations are the engine's work; it is
 * parked without any. */
#ifndef ENGINE_PENDING_H
#define ENGINE_PENDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

/* One pending op, embedded in what the dispatcher knows about it. */
struct engine_pending_op {
    struct engine_pending_op *next; /* under the list lock */
    /* Of several messages that follow from one another: what one brings lets the next begin. Written before it is
     * added. */
    bool is_schedule;
    /* Inside the gate. True when the transfer has ended and all that belongs to
     * it is done; the op is then off the list and never touched again. */
    bool (*test)(struct engine_pending_op *op);
};

/* ops: number of pending ones. waiters: threads that wait at a touch, or in a call of libc for other threads' ops;
 * while there are any, a polling engine does not sleep, as MPI's own wait would not. Whoever sees the touch or its end.
 * lock: whoever reads or changes the list. work: ops and assisted operations; the futex that a
 * parked engine sleeps on. schedules: those among the ops. held: assisted operations whose memory is held
 * (op/transfer.h), but for receives that were parted. All of these: whoever begins and ends them. wait_began_ns: when
 * the program last came to complete operations; written by whoever waits, read by whoever ends an operation; relaxed:
 * numbers for judging. */
extern struct engine_pending {
    _Atomic uint32_t ops;
    _Atomic uint32_t waiters;
    struct base_lock lock;
    struct engine_pending_op *list;
    _Atomic uint32_t work;
    _Atomic uint32_t assisted;
    _Atomic uint32_t schedules;
    _Atomic uint32_t held;
    _Atomic int64_t begun_last_ns;
    _Atomic int64_t wait_began_ns;
} engine_pending_state;

static inline uint32_t engine_pending(void)
{
    /* acquire: who reads 0 sees all that the last op's end has written. */
    return atomic_load_explicit(&engine_pending_state.ops, memory_order_acquire);
}

static inline uint32_t engine_pending_held(void)
{
    /* acquire: who reads 0 sees what has come home. */
    return atomic_load_explicit(&engine_pending_state.held, memory_order_acquire);
}

/* seq_cst: see engine_sleep(). */
static inline bool engine_pending_is_awaited(void)
{
    return atomic_load_explicit(&engine_pending_state.waiters, memory_order_seq_cst) != 0;
}

/* Tests every pending op once; returns how many ended. Inside the gate. When
 * another thread is doing the same, returns 0 at once. */
uint32_t engine_pending_poll(void);

/* Is an operation of the program assisted? */
bool engine_pending_assists(void);

/* May messages be under way that follow from one another: is an operation assisted, or a schedule pending? */
bool engine_pending_has_schedules(void);

/* For ever: no op is tested any more, by whomever. For the end of the process
 * while ops are pending; also in a signal handler of a thread that was testing. */
void engine_pending_freeze(void);

/* Puts an op on the list and wakes the engine, which has started. Inside the gate. */
void engine_pending_add(struct engine_pending_op *op);

/* The engine, which has started, assists from the first of these calls until as many
 * ends have come. End: inside the gate, so that the engine is not poking when it
 * returns. */
void engine_pending_assist_begin(void);
void engine_pending_assist_end(void);

/* When the last op, or operation to assist, began. */
int64_t engine_pending_begun_last_ns(void);

/* Ops and assisted operations together. */
uint32_t engine_pending_work(void);

/* Engine thread: sleeps while there is no work, until woken; may return early. */
void engine_pending_wait(void);
void engine_pending_wake(void);

/* In the child after fork. */
void engine_pending_forked_child(void);

#endif
