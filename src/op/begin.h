/* SPDX-License-Identifier: MIT */
/* How the op of a message begins: what is waited for before the gate, and what is held inside it. */
#ifndef OP_BEGIN_H
#define OP_BEGIN_H

#include <stdbool.h>

#include "base/range.h"
#include "base/reasons.h"
#include "op/transfer.h"

/* bytes: its memory. is_matched: it is received and has been matched, so that it waits for nothing more once it begins:
 * to receive it lets a synchronous send end. keeps_order: see session_order(). */
struct begin_message {
    struct range bytes;
    bool is_read;
    bool is_matched;
    bool keeps_order;
};

/* transfer: the slot of the op. has_turn: it starts in its turn, which may be now (transfer_unmatched()). are_others:
 * others may be pending, or something else that calls must look after (busy.h). are_requests: the program has requests,
 * whose bytes begin_hold() may find beside. */
struct begin_op {
    struct transfer *transfer;
    bool has_turn;
    bool are_others;
    bool are_requests;
};

/* Waits for the memory, and for what must be over before: what waits for its turn has been begun by one thread. Then
 * takes a slot, and enters the gate. Otherwise says why nothing can begin. */
enum reason begin_enter(const struct begin_message *message, struct begin_op *op);

/* What is to be held: the pages of `bytes`, of which `alone` must share none with anybody. has_gaps, may_hide_gaps: see
 * neighbours.h. */
struct begin_memory {
    enum hold_kind kind;
    struct range bytes;
    struct range alone;
    bool has_gaps;
    bool may_hide_gaps;
};

/* Holds it for the op, or says why not. Inside the gate. */
enum reason begin_hold(struct transfer *transfer, const struct begin_memory *memory);

/* A reduction begins, blocking or not, for which this thread's arithmetic holds. Waits for what this thread has begun
 * with another: a bound from above and one from below, say, are each rounded their way. Not inside the gate, where it
 * waits for nothing. */
void begin_reduction(void);

/* MPI may from now on run functions of the program's own, at times that only MPI
 * knows. They may touch anything, held memory too, in a thread that is inside
 * MPI, and must not run in the engine: no op begins any more. Waits for those
 * that are pending, but for other threads': what they wait for may be what this thread does next. The engine still ends
 * these, since nobody else might. Not inside the gate, where it waits for nothing. */
void begin_expect_callbacks(void);

#endif
