/* SPDX-License-Identifier: MIT */
/* The engine: the progress thread and the list of pending ops.
 *
 * Nothing pending: the thread is parked on a futex. Pending: it sleeps in
 * epoll on the MPI library's sockets and on the touches, or polls with a
 * back-off where no socket carries the data, and at each wake-up tests every
 * pending op once. Who else waits for an op calls engine_poll() itself.
 *
 * Besides, it assists the program's own nonblocking operations: it pokes MPI for
 * them, never completes one, and stays out while the program is inside MPI. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

/* One pending op, embedded in what the dispatcher knows about it. */
struct engine_op {
    struct engine_op *next; /* engine's list; under the list lock */
    /* Inside the gate. True when the transfer has ended and all that belongs to
     * it is done; the op is then off the list and never touched again. */
    bool (*test)(struct engine_op *op);
};

struct engine_hooks {
    int touch_descriptor;       /* readable when a touch waits in the kernel; -1: none */
    void (*touches_read)(void); /* reads it */
    void (*poke)(void);         /* lets MPI progress; inside the gate, while something is assisted */
};

/* Remembers how to run; starts no thread yet. */
void engine_configure(enum option_progress progress, bool has_local_peers, struct engine_hooks hooks);

/* Puts an op on the list and wakes the engine, starting its thread the first
 * time. Inside the gate. False when no thread can be had: the caller waits. */
bool engine_submit(struct engine_op *op);

/* Tests every pending op once; returns how many ended. Inside the gate. When
 * another thread is doing the same, returns 0 at once. */
uint32_t engine_poll(void);

/* The engine assists from the first of these calls until as many ends have come.
 * False when no thread can be had. End: inside the gate, so that the engine is
 * not poking when it returns. */
bool engine_assist_begin(void);
bool engine_assists(void);
void engine_assist_end(void);

/* Tests every op and pokes once; returns how many ops ended. The engine, or a program
 * that lends a hand. Inside the gate. */
uint32_t engine_progress(void);

/* Makes a sleeping engine look at once. Safe in signal context. */
void engine_wake(void);

/* Threads that wait at a touch: while there are any, a polling engine does not
 * sleep, as MPI's own wait would not. Whoever sees the touch or its end. */
extern _Atomic uint32_t engine_waiters;

/* Number of pending ops. */
extern _Atomic uint32_t engine_pending_count;

static inline uint32_t engine_pending(void)
{
    /* acquire: who reads 0 sees all that the last op's end has written. */
    return atomic_load_explicit(&engine_pending_count, memory_order_acquire);
}

struct engine_totals {
    uint64_t cpu_ns;
    uint64_t wakeups;
    uint64_t guard_wakeups;
};

/* For ever: no op is tested any more, by whomever. For the end of the process
 * while ops are pending; also in a signal handler of a thread that was testing. */
void engine_freeze(void);

/* Ends the thread (no op may be pending) and returns once it is gone. */
void engine_stop(void);

/* After engine_stop(). */
struct engine_totals engine_totals_read(void);

/* A choice of option `progress` other than auto, or "none" when no thread ran. */
const char *engine_progress_name(void);

/* In the child after fork: no thread, no ops. */
void engine_forked_child(void);

#endif
