/* SPDX-License-Identifier: MIT */
/* The engine: the progress thread.
 *
 * Nothing pending: the thread is parked on a futex. Pending: it sleeps in
 * epoll on the MPI library's sockets, on the touches and on what UCX tells, or
 * polls with a back-off where nothing tells of the data, and at each wake-up tests every
 * pending op once. Who else waits for an op calls engine_pending_poll() itself.
 *
 * Besides, it assists the program's own nonblocking operations: it lets MPI progress for
 * them, never completes one, and stays out while the program is inside MPI. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "engine/pending.h"

struct engine_hooks {
    int touch_descriptor;       /* readable when a touch waits in the kernel; -1: none */
    void (*touches_read)(void); /* reads it */
    void (*progress)(void);     /* lets MPI progress; inside the gate, while something is assisted */
    bool (*goes_on)(void);      /* may ops still begin? Else the program may reach MPI past the gate */
    void (*polled)(int64_t begin_ns, int64_t end_ns); /* NULL: nobody wants to know when the engine was awake */
};

/* Remembers how to run; starts no thread yet. has_silent_peers: no socket tells of what some of them send. */
void engine_configure(enum option_progress progress, bool has_silent_peers, struct engine_hooks hooks);

/* Starts the thread when it is first asked for. False when the system refuses one, then
 * and for good. Any thread, before anything begins that only the engine may end. */
bool engine_start(void);

/* Until the thread, where it starts, has the addresses that it takes for its heap. Before the program limits them. */
void engine_heap_wait(void);

/* As engine_pending_add() and engine_pending_assist_begin(). */
void engine_add(struct engine_pending_op *op);
void engine_assist_begin(void);

/* Messages have begun, besides by these, of which UCX may not tell: the engine looks after them. */
void engine_note_begun(void);

/* Tests every op and lets MPI progress once; returns how many ops ended. The engine, or a program
 * that lends a hand. Inside the gate. */
uint32_t engine_progress(void);

/* Makes a sleeping engine poll at once. Safe in signal context. */
void engine_wake(void);

struct engine_totals {
    uint64_t cpu_ns;
    uint64_t wakeups;
    uint64_t guard_wakeups;
    uint64_t ucx_wakeups;
};

/* Does nothing wake it, so that it polls in vain, and on a core that computes? So where the process has one core, or
 * the host one per rank; what threads the program runs on others is not known. */
bool engine_is_dear(void);

/* The processor time that it has taken so far of a core that computes; 0: it has another. */
int64_t engine_shared_core_ns(void);

/* The same, where it is dear; else 0. */
int64_t engine_charge_ns(void);

/* Ends the thread for good (no op may be pending) and returns once it is gone. */
void engine_stop(void);

/* What it has done so far. Any thread, whether the engine runs or has ended. */
struct engine_totals engine_totals_read(void);

/* In the child after fork: no thread, no ops. */
void engine_forked_child(void);

#endif
