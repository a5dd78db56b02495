/* SPDX-License-Identifier: MIT */
/* An op as the dispatcher knows it: where engine, protect, policy and record
 * meet. The part that needs MPI's types stands beside it, per ABI, under the
 * same slot number (mpi/native.h).
 *
 * Life: transfer_take() -> [hold armed, MPI request started] -> transfer_launch()
 * -> engine tests it -> transfer_end() -> slot free again. */
#ifndef OP_TRANSFER_H
#define OP_TRANSFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "policy/policy.h"
#include "protect/protect.h"

enum { TRANSFERS_MAX = 128, TRANSFER_SLOT_BITS = 8, TRANSFER_HOLDS_MAX = 18 };

struct transfer;

/* Inside the gate: gives back memory that is held ahead of its op. */
typedef void transfer_let_go_fn(struct transfer *transfer);

/* One of an op. moved_bytes: so far from where the program has it MPI finds what is held (modulo 2^64). */
struct transfer_hold {
    struct hold *hold;
    uintptr_t moved_bytes;
};

struct transfer {
    struct engine_pending_op op; /* first: the engine hands back its address */
    /* (sequence << 8) | slot while in use, 0 when free. Written by the thread
     * that takes or ends the op; read by all. */
    _Atomic uint64_t id;
    /* The rest: written by the thread that starts the op, before
     * transfer_launch(); read by the thread that ends it. */
    uint32_t slot;
    enum policy_direction direction;
    enum policy_send way;
    _Atomic uintptr_t starter; /* transfer_me() of the thread that began it; read by all */
    uint64_t bytes;
    struct transfer_hold holds[TRANSFER_HOLDS_MAX];
    uint32_t hold_count;
    struct policy_site *site; /* NULL: nothing is learnt there */
    const void *place;        /* then: where the call stands, if the run is drawn */
    uint32_t situation;       /* of the call (policy.h) */
    int64_t hold_cost_ns;
    /* Once the op has them, its end gives them back (copies.h). */
    void *copy;            /* the bytes that it sends, when they are ours */
    size_t reserved_bytes; /* for copies of touched pages */
    uint32_t beside;       /* so many others go on after the same wait, which share what it brings */
    int64_t begun_ns;      /* 0, as the next, where nobody draws the run (observer.h) */
    int64_t announced_ns;  /* written inside the gate */
    int64_t returned_ns;
    int64_t stalled_when_taken_ns; /* stall_total_ns() when it was taken, */
    int64_t stalled_before_ns;     /* and at the early return */
    int64_t engine_before_ns;      /* engine_shared_core_ns() then */
    /* Of memory that is held ahead of its op: see transfer_ahead_begin(). NULL: it is not. Changed inside the gate. */
    _Atomic(transfer_let_go_fn *) let_go;
    _Atomic bool is_kept; /* see transfer_keep_begin(); as let_go */
    bool is_parted;
    struct range part_pages; /* reserved for (transfer_ahead_prepare()); empty: none */
    void *part_room;         /* of these; NULL once it is parted */
    /* First touch, 0 before: written once by the toucher (CAS), read at the end. */
    _Atomic int64_t touched_ns;
    _Atomic uintptr_t touched_address; /* by the toucher, before touched_ns */
    _Atomic int64_t stalled_at_touch_ns;
    /* A call waited for memory of the op: since when, 0 when none; as touched_ns. */
    _Atomic int64_t waited_ns;
};

/* A free slot, its id set; NULL when all are in use. */
struct transfer *transfer_take(void);

/* Holds memory for the op, the first or more of it, measuring what it costs. */
enum reason transfer_hold(struct transfer *transfer, enum hold_kind kind, struct range bytes);

/* Gives back what is held before the launch: MPI has not begun to use it where it has moved. */
void transfer_unhold(struct transfer *transfer);

/* A part of what a hold of the op covers has come, or gone: gives back the pages below `high`. */
void transfer_release_until(struct transfer *transfer, uint32_t index, uintptr_t high);

/* Instead of a launch: releases the hold, if any, lets go who touched it meanwhile,
 * and gives the slot back. */
void transfer_cancel(struct transfer *transfer);

/* The same for a message that was over when it was started: its hold was for nothing. */
void transfer_cancel_over(struct transfer *transfer);

/* Hands the op to the engine: the call is about to return. */
void transfer_launch(struct transfer *transfer);

/* Reserves what it takes to part the transfer, within the bounds of copies.h, until it is cancelled or held ahead no
 * more. False where there is none. */
bool transfer_ahead_prepare(struct transfer *transfer, struct range bytes);

/* Memory is held for an operation that the program has begun and not yet waited for: no op is pending, and nobody may
 * wait for it. Who comes to touch the memory, or any call that would wait for all ops, has let_go called instead, which
 * gives the memory back. Until the end no call goes straight to MPI, and the engine is at work for touches. Inside the
 * gate, before it is launched, cancelled or parted. */
void transfer_ahead_begin(struct transfer *transfer, transfer_let_go_fn *let_go);
void transfer_ahead_end(struct transfer *transfer);

/* The same for what is never given back before it is over, as let_go finds out: who touches the memory waits for that,
 * and nobody else does. Ended as the others. */
void transfer_keep_begin(struct transfer *transfer, transfer_let_go_fn *let_go);

/* Is it such a one, and not yet given up? */
bool transfer_is_kept(const struct transfer *transfer);

/* MPI or the process ends: opens the memory of these. */
void transfer_open_kept(void);

/* Gives back the memory although data go on to arrive (protect_hold_part()). False where it is held no more. */
bool transfer_part(struct transfer *transfer);

/* The next after this one that is held ahead, or was parted; of NULL the first; NULL: there is none. The one before may
 * have ended meanwhile. Inside the gate. */
struct transfer *transfer_ahead_next(const struct transfer *before);

/* How many are held ahead, or were parted; how many were parted. */
uint32_t transfer_ahead_count(void);
uint32_t transfer_parted_count(void);

/* Lets go of all. Not inside the gate. */
void transfer_let_go_all(void);

/* Inside the gate: lets go of what was touched, and looks at what is kept; looks whether what was parted is over. */
void transfer_serve_ahead(void);
void transfer_settle_parted(void);

/* In the child after fork, to which no data come. */
void transfer_forked_child(void);

/* What became of an op: for how long it was under way, how much of that the program used for something else, how long
 * the program was stopped since the op was taken (each stall counts for one collective), what holding took, and what
 * the engine took of the program's core, if cost_ns does not have it. */
struct transfer_outcome {
    int64_t lasted_ns;
    int64_t overlapped_ns;
    int64_t stopped_ns;
    int64_t cost_ns;
    int64_t engine_ns;
};

/* The transfer is over (called inside the op's test): releases the memory,
 * counts, teaches the policy, frees the slot. */
struct transfer_outcome transfer_end(struct transfer *transfer);

/* Has this thread started an op? Then it is one of the program's, not of a library. */
bool transfer_is_starter(void);

/* The id of the op in a slot, 0 when the slot is free. */
uint64_t transfer_id(uint32_t slot);

/* Ops whose start waits for its turn, receives whose message is not known to have been sent, and collectives to which
 * a rank that this one needs is not known to have come: what they wait for comes before all that the program does next,
 * where another process can see it. Changed inside the gate; read by the thread that has begun them, and by those that
 * it tells. */
uint32_t transfer_unmatched(void);
void transfer_unmatched_add(void);
void transfer_unmatched_remove(void);

/* Waits until there are none, or none of other threads. Not inside MPI. The last: those of this thread, unless this is
 * a handler that has interrupted a wait. */
void transfer_wait_unmatched(void);
void transfer_wait_unmatched_of_others(void);
void transfer_wait_unmatched_unless_interrupted(void);

/* Its message has been matched, or all that a collective of this rank needs have come to it. Inside the gate. */
void transfer_note_announced(struct transfer *transfer);

/* Is op `id` still under way? */
bool transfer_is_pending(uint64_t id);

/* Waits for one op, or for all, doing the engine's work meanwhile. Not from
 * signal context; returns at once when called from inside MPI, where waiting
 * could only deadlock. False in a thread that ends the process: it waits no more. */
bool transfer_wait(uint64_t id);
void transfer_wait_all(void);

/* The same for what a signal handler may do as well (files): one that
 * interrupted a wait for a message must not wait for that message, and with MPI
 * alone nothing would be pending before it. */
void transfer_wait_all_unless_interrupted(void);

/* Waits for the ops that this thread has begun. Where other threads may be in MPI
 * at the same time (MPI_THREAD_MULTIPLE), waiting for theirs could deadlock: with
 * MPI alone they would still be inside their calls, and what those wait for may
 * need this thread's next call. */
void transfer_wait_own(void);

/* Waits for every op that this thread may take to be over: its own ones then, else all. */
void transfer_wait_due(void);
void transfer_wait_due_unless_interrupted(void);

/* MPI may call the program's functions from now on, which only its own threads may run: waits for what is due, and for
 * a time for what is kept, which is given up then (let_go is called once it is kept no more). Under MPI_THREAD_MULTIPLE
 * other threads' ops and what is kept go on. No more ops begin. */
void transfer_expect_callbacks(void);

/* Before the process is copied, or may be refused what gives memory back: waits for this thread's ops as long as it
 * takes, and for other threads' receives so many seconds, since they may need what this thread does next. False when
 * that was in vain. In a handler that interrupted a wait, as far as that can be told, a second for all. */
enum { TRANSFER_PATIENCE_S = 10 };
bool transfer_wait_received(int patience_s);

/* Before peers may no longer read this process's memory, as MPI lets them: waits for all messages that are under way,
 * for other threads' as long as the one above. Not inside MPI, nor in a handler that interrupted a wait. */
void transfer_wait_readable(void);

/* The process ends, called from any thread. Ops are waited for as long as they
 * may end: not when this is a handler that interrupted a wait for a message, nor
 * while a thread waits at a touch (it might be this one). What is still pending
 * then stays undone, as it would with MPI alone, and this thread waits no more. */
void transfer_leave(bool may_wait);

/* A call waits for memory of this op, if it is pending. */
void transfer_note_wait(uint64_t id);

/* May this thread wait for ops? Not while MPI ends the job at its wish. */
void transfer_let_wait(bool may_wait);

/* One round of waiting inside a loop: polls all ops, then makes way. `round`
 * counts up from 0. */
void transfer_poll_round(uint32_t round);

/* For protect_start(): signal context, any thread. */
void transfer_touched(uint64_t op_id, uintptr_t address);

/* The program is about to jump. Where this thread waits for ops, or has just looked at them, this is a signal handler's
 * jump, out of a system call that we wait before (a timeout). The waits are over, but for their ends; one that goes on
 * after all, since the jump was one inside the handler, is no longer known as one. */
void transfer_leave_waits(void);

#endif
