/* SPDX-License-Identifier: MIT */
/* The gate: what keeps the program's threads and the engine from being in MPI
 * at once, so that MPI needs no locks of its own, whatever level the program asks
 * for. Under MPI_THREAD_MULTIPLE it is shared: everybody may be in MPI, and it only
 * counts who is.
 *
 * The gate is not taken at all while nothing is pending: then the engine is
 * parked and the program's own rules keep its threads apart. */
#ifndef ENGINE_GATE_H
#define ENGINE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/rights.h"

/* Owned by its thread; also read by libc's entries of the same thread.
 * depth: how often it has entered and not left: MPI calls back into the program (error handlers,
 * reduction operators), which may call MPI again. waits: those under way.
 * is_of_mpi: the engine, or a thread that MPI began: it may keep the rights to held memory that it had inside the gate.
 * The rest is of its visit: were signals deferred, which were blocked before, and had the thread those rights anyway?
 * Is it counted as one with its signals open, or as one that holds memory (of a shared gate)? */
extern _Thread_local struct gate_thread {
    uint32_t depth;
    uint32_t waits;
    bool is_of_mpi;
    bool are_signals_deferred;
    bool keeps_rights;
    bool is_open;
    bool is_holder;
    uint64_t signals_before;
} gate_thread;

/* Is this thread inside MPI, as the program or as the engine? */
static inline bool gate_is_inside(void)
{
    return gate_thread.depth != 0;
}

/* Once, before the first op: true under MPI_THREAD_MULTIPLE. */
void gate_share(bool is_shared);

/* From now on signals wait while their thread is in the gate and ops are pending, or memory is held ahead of its op: a
 * handler that touched a pending message there would wait for an engine that waits for the gate. Long visits are not
 * made while ops are pending (dispatch_wait_others). */
void gate_defer_signals(void);

/* So they do from here to the end of this thread's visit, if anybody asked for that: before it holds memory where
 * nothing was pending when it came. False: it must not, since another thread is inside whose signals come. (With a
 * shared gate the engine comes in all the same, but needs locks of MPI's that this thread may have.) */
bool gate_hold_back_signals(void);

/* A lock of which the end of an op has need, and that is also taken outside the gate: a signal handler that interrupted
 * its owner there, and waits for ops, would wait for itself. So no signal comes while it is taken, if the program has
 * handlers. The last two are the owner's: are signals to be let come again, and which were blocked before? */
struct gate_lock {
    struct base_lock lock;
    bool blocks_signals;
    uint64_t signals_before;
};

void gate_lock_take(struct gate_lock *lock);
void gate_lock_release(struct gate_lock *lock);

/* Protection keys: who is inside may touch what is held, and nobody else. With an empty mask there are none. When
 * nothing is held. */
void gate_use_rights(struct base_rights rights);

/* Are there any, which threads have only if they were begun inside? */
bool gate_gives_rights(void);

/* Before the kernel reads what is sent for this thread, which may be older than the keys. */
void gate_settle_rights(void);

/* First in a thread of the program's: one that a function begins that MPI calls has inherited the rights of who is
 * inside. */
void gate_drop_rights(void);

/* True: other threads may be inside, too. */
bool gate_enter(void);
void gate_leave(void);

/* A thread's arithmetic: how it rounds, what it makes of numbers that are too small, and which exceptions end in a
 * signal (fenv.h). A thread that begins a reduction notes its own, by which the background adds up from then on. */
void gate_note_arithmetic(void);

/* Was another than this thread's noted last? */
bool gate_arithmetic_is_other(void);

/* Around MPI's progress for what has begun, inside the gate: takes the noted one, and returns this thread's own. */
uint64_t gate_take_arithmetic(void);
void gate_give_back_arithmetic(uint64_t own);

/* Engine thread: enters unless a program thread is inside MPI, which then does
 * all progress itself. */
bool gate_try_enter(void);

/* Threads inside MPI now, this one not counted. Exact only for a shared gate. */
uint32_t gate_others_inside(void);

/* A program thread that loops over short visits (a wait) asks the engine to
 * stay out meanwhile: it does the engine's work itself. Nests: returns the wait's
 * number, for its end. That is false when the wait was forgotten meanwhile. */
uint32_t gate_keep_engine_out(void);
bool gate_let_engine_in(uint32_t wait);

/* This thread jumps out of its waits, out of a signal handler that interrupted
 * them; returns how many there were. */
uint32_t gate_forget_waits(void);

/* Is this thread between the two? True in a signal handler that came meanwhile. */
bool gate_is_waiting(void);

/* Is any thread of the program? */
bool gate_is_anyone_waiting(void);

/* Engine thread: sleeps while a program thread does its work, at most
 * `timeout_ns` (negative: no limit). */
void gate_wait_for_turn(int64_t timeout_ns);

/* In the child after fork. */
void gate_forked_child(void);

#endif
