/* SPDX-License-Identifier: MIT */
/* The program's own requests and the bytes that MPI may touch for them. A hold
 * covers whole pages: if MPI, run by the engine, touched a neighbour of a held
 * buffer, the engine would wait for itself. So an op whose first or last page
 * is shared with such bytes is not held.
 *
 * Handles are opaque keys here; one key may stand for several requests (Open
 * MPI and MPICH give the same handle to all requests that are over at once). */
#ifndef OP_REQUESTS_H
#define OP_REQUESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "op/untracked.h"

struct policy_site;

/* Several threads may track at once (MPI_THREAD_MULTIPLE). Once, at start. */
void requests_share(bool is_shared);

/* So may the engine untrack what is tracked, beside a thread of the program's. Before it does, inside the gate. */
void requests_expect_engine(void);

/* A small message begins. False: it must be tracked. By a thread inside MPI. */
bool requests_begin_small(void);

void requests_track(uint64_t key, struct range bytes);

/* Bytes that MPI may touch at any time, from now on or until untracked by their
 * first address. */
void requests_track_region(struct range bytes);
void requests_untrack_region(uintptr_t low);

/* MPI may touch bytes that nobody knows (windows), from now on or until untracked as often: no page may be shared. */
void requests_track_unknown(void);
void requests_untrack_unknown(void);

bool requests_are_unknown(void);

/* What a wait must know of a request. Collective: also a partitioned message. File: an operation on one. */
enum requests_kind { REQUESTS_COLLECTIVE, REQUESTS_PERSISTENT, REQUESTS_FILE };

/* Requests may be of this kind from now on: the program makes one. May they? Asked by who waits for such a request,
 * which it has from the thread that made it. */
void requests_expect(enum requests_kind kind);
bool requests_may_be(enum requests_kind kind);

/* One request with this key is over. */
void requests_untrack(uint64_t key);

/* Is there a request with this key? */
bool requests_know(uint64_t key);

/* The bytes of the request with this key; empty when there is none. */
struct range requests_range(uint64_t key);

/* A send. */
struct requests_send {
    struct range bytes;
    bool may_outlast;   /* it may go on when the program has waited for it (mpi/request/sent.h) */
    bool may_hide_gaps; /* not all of its bytes need be the message's */
    bool is_persistent;
};

/* What has just been tracked with this key is of this kind, as more may be. Is it? */
void requests_note_kind(uint64_t key, enum requests_kind kind);
bool requests_is(uint64_t key, enum requests_kind kind);

/* What has just been tracked with this key is a persistent request that is not active any more once MPI has been asked
 * whether it is over, and found that: its status is lost. has_status: it is no send. */
void requests_note_lost(uint64_t key, bool has_status);

/* What would be lost if MPI were asked about the request with this key. */
enum requests_loss { REQUESTS_LOSS_NONE, REQUESTS_LOSS_TURN, REQUESTS_LOSS_STATUS };
enum requests_loss requests_loss(uint64_t key);

/* What has just been tracked with this key is a send; or it is one no longer that may outlast its wait. */
void requests_note_send(uint64_t key, struct requests_send send);
void requests_forget_send(uint64_t key);

/* Is there a send with this key that may outlast its wait? */
bool requests_find_send(uint64_t key, struct requests_send *send);

/* Is there a send with this key? */
bool requests_find_any_send(uint64_t key, struct requests_send *send);

/* The send of this key is over for the program, which keeps its persistent request; it goes on as this op. */
void requests_leave_to(uint64_t key, uint64_t op_id);

/* That op, which may be over by now; 0: there was none. */
uint64_t requests_left_to(uint64_t key);

/* What has just been tracked with this key is a receive whose wait might have returned early: what the wait takes is
 * learnt there. */
void requests_note_receive(uint64_t key, struct policy_site *site, uint32_t situation);

/* For as long as requests are set aside, requests_touch() does not count their bytes. */
void requests_set_aside(uint64_t key, bool is_aside);

/* The operation of this key has begun: the engine may work for it, until it is
 * untracked or settled (a persistent one, which stays tracked). bytes: what it moves;
 * 0: the length of the request's buffer. */
void requests_assist(uint64_t key, uint64_t bytes, const void *return_address);
void requests_settle(uint64_t key);

/* The engine works for none of them any more: it may not be in MPI from now on. Nothing under
 * MPI_THREAD_MULTIPLE, and inside the gate. */
void requests_end_assists(void);

/* Are there any? Read before the price of untracking is paid. The number is written by threads inside MPI, under the
 * lock when several may be. Who ends a request has begun it, or has it from who did, and so sees it counted: relaxed.
 */
static inline bool requests_are_tracked(void)
{
    return atomic_load_explicit(&untracked.tracked_count, memory_order_relaxed) != 0;
}

/* May MPI touch one of these bytes for a request of the program? */
bool requests_touch(struct range bytes);

#endif
