/* SPDX-License-Identifier: MIT */
/* What a generated MPI entry does around MPI's own function. Compiled once per
 * ABI (abi.h is that ABI's). An entry reads as a sentence:
 *
 *     if (busy_is_clear())
 *         return real.MPI_Bcast(buffer, count, datatype, root, comm);
 *     dispatch_wait_buffer(buffer, count, datatype, DISPATCH_WRITES);
 *     dispatch_enter();
 *     return dispatch_leave(real.MPI_Bcast(buffer, count, datatype, root, comm));
 */
#ifndef MPI_DISPATCH_H
#define MPI_DISPATCH_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>

#include "abi.h"
#include "base/options.h"
#include "base/range.h"
#include "op/busy.h"
#include "op/straight.h"
#include "op/untracked.h"
#include "mpi/real.h" /* generated */
#include "mpi/datatypes.h"

enum dispatch_access { DISPATCH_READS, DISPATCH_WRITES };

/* Waits for the ops whose holds forbid this access to `count` elements. */
void dispatch_wait_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype, enum dispatch_access access);

/* The same for bytes, and for memory of which nothing is known. */
void dispatch_wait_range(struct range bytes, bool is_read);
void dispatch_wait_unknown(void);

/* Waits for the ops that hold a page of an argument in memory (a status, a
 * request, an output): MPI would touch it while the engine is locked out. NULL
 * and MPI's special addresses are fine. */
void dispatch_wait_argument(const void *argument, size_t length_bytes);

/* Before a call that keeps the gate for as long as it blocks: with several
 * threads, waits for every op, since a touch of another thread could not be
 * released meanwhile; where signals are handled, too, since they would not come
 * in the call. Under MPI_THREAD_MULTIPLE the engine comes in beside: then only for
 * signals, and for this thread's ops, since others may end only after the call. */
void dispatch_wait_others(void);

/* Before a call that names a request whose buffer MPI is going to use: waits for
 * the ops that hold it, and for those of transfer_wait_due(). */
void dispatch_wait_request(MPI_Request request);

/* Takes the gate (recursive: MPI calls back into the program's functions), once all receives that have returned early
 * are matched that must be before what follows (message/message_turn.h). */
void dispatch_enter(void);

/* The same for what itself starts in its turn, or is seen by nobody. */
void dispatch_enter_in_turn(void);

/* MPI_THREAD_MULTIPLE, in place of waiting for memory and entering: enters where there is nothing to wait for
 * (op/idle.h), and returns true. */
bool dispatch_enter_idle(void);

/* Leaves after dispatch_enter_idle(). */
int dispatch_leave_idle(int result);

/* What both do once they are inside: lets arrive what early receives have been given, and starts what is unstarted. */
void dispatch_catch_up(void);

/* The same before a message whose call returns early: it waits for nobody, and receives may start apart beside it. */
void dispatch_catch_up_beside(void);

/* What calls that have returned early have begun and MPI does not know of yet: pieces of collectives, and receives that
 * start apart (message/message_turn.h). Any other call might wait for a rank that waits for them, so they are started
 * before it. count: by who adds and starts them; start_all: set with the first. */
enum dispatch_unstarted_kind { DISPATCH_PIECES, DISPATCH_RECEIVES, DISPATCH_UNSTARTED_KINDS };
extern __attribute__((visibility("hidden"))) struct dispatch_unstarted {
    _Atomic uint32_t count;
    void (*start_all)(void);
} dispatch_unstarted[DISPATCH_UNSTARTED_KINDS];

/* Leaves the gate. Returns `result`. */
int dispatch_leave(int result);

/* The same after a blocking message, a collective or the completion of requests: instead of success, the error of an op
 * that has ended. From no other call: what has begun or made something must not seem to have failed (the program, or
 * its Fortran binding, would lose the handle), and codes that few programs look at would be lost. */
int dispatch_leave_and_tell(int result);

/* A call that blocks, as a loop over one that does not: calls `poll` inside the
 * gate until it sets *is_over or fails, testing the pending ops in between. */
typedef int dispatch_poll_fn(void *argument, int *is_over);
int dispatch_block(dispatch_poll_fn *poll, void *argument);

/* Remembers that `request` may use these bytes until it is complete. */
void dispatch_track(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype);

/* The same for a request whose bytes are not one simple buffer. */
void dispatch_track_unknown(MPI_Request request);

/* The same for an operation on a file. */
void dispatch_track_file(MPI_Request request);

/* The operation of a tracked request has begun, from this call of the program: the
 * engine may keep it going. */
void dispatch_assist(MPI_Request request, const void *return_address);

/* The same for one that moves blocks of this size between several buffers, of
 * which its request tells nothing. */
void dispatch_assist_blocks(MPI_Request request, MPI_Count count, MPI_Datatype datatype, const void *return_address);

/* A nonblocking message has begun: a small one is counted, a large one tracked,
 * and kept going. */
void dispatch_begin_message(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                            const void *return_address);

/* The same for a send. may_outlast: one of standard or ready mode may still be under way when the program has waited
 * for it. Not once the program has asked MPI to cancel it. */
void dispatch_begin_send(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                         bool may_outlast, const void *return_address);
void dispatch_forget_send(const MPI_Request *request);

/* A persistent send has been made, and may be started from now on. */
void dispatch_track_send(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                         bool may_outlast);

/* The way of most nonblocking messages: nothing is pending, and the message is known to be small. Counts it; the caller
 * gives the call to MPI. */
static inline bool dispatch_begins_small(MPI_Count count, MPI_Datatype datatype)
{
    return straight_begins(count, (uint64_t)(uintptr_t)datatype);
}

/* From now on MPI may use memory that nobody knows (windows, split collectives of files, attached buffers), until
 * the call that ends it has this result; returns it. */
void dispatch_begin_unknown(void);
int dispatch_end_unknown(int result);

#endif
