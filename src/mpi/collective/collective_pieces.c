/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_pieces.h"

#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "op/stall.h"
#include "op/transfer.h"

/* Pieces under way at a time. One would leave the network idle between two pieces; with all of them MPI sends parts of
 * each in turn, so that the first is over when the last is (measured with Open MPI 4.1, ob1 over TCP). */
enum { PIECES_UNDER_WAY = 2 };

static void pieces_queue(struct collective_pieces *pieces)
{
    pieces->next = pieces->queue->first;
    pieces->queue->first = pieces;
    pieces->is_queued = true;
    /* relaxed: the gate, or the order of the program's own calls, brings it to whoever must see it */
    atomic_fetch_add_explicit(&dispatch_unstarted[DISPATCH_PIECES].count, 1, memory_order_relaxed);
}

static void pieces_leave_queue(struct collective_pieces *pieces)
{
    struct collective_pieces **link = &pieces->queue->first;
    if (!pieces->is_queued)
        return;
    while (*link != pieces)
        link = &(*link)->next;
    *link = pieces->next;
    pieces->is_queued = false;
    atomic_fetch_sub_explicit(&dispatch_unstarted[DISPATCH_PIECES].count, 1, memory_order_relaxed);
}

/* The others go on, and end: until then MPI uses the memory, and the other ranks count on them. */
static void pieces_note_failure(struct collective_pieces *pieces, int result)
{
    if (pieces->failure == MPI_SUCCESS)
        pieces->failure = result;
}

static void pieces_start_until(struct collective_pieces *pieces, uint32_t until)
{
    uint32_t most = until < pieces->work.cut.pieces ? until : pieces->work.cut.pieces;
    while (pieces->work.started < most)
        pieces_note_failure(pieces, collective_work_start(&pieces->work));
    if (pieces->work.started == pieces->work.cut.pieces)
        pieces_leave_queue(pieces);
}

void collective_pieces_start_all(struct collective_pieces_queue *queue)
{
    base_lock_take(&queue->lock);
    while (queue->first != NULL)
        pieces_start_until(queue->first, COLLECTIVE_CUT_PIECES_MAX);
    base_lock_release(&queue->lock);
}

void collective_pieces_start_next(struct collective_pieces *pieces)
{
    pieces_start_until(pieces, pieces->waits_for_edges ? COLLECTIVE_CUT_EDGES : pieces->work.ended + PIECES_UNDER_WAY);
}

void collective_pieces_begin(struct collective_pieces *pieces)
{
    base_lock_take(&pieces->queue->lock);
    dispatch_unstarted[DISPATCH_PIECES].start_all = pieces->queue->start_all;
    pieces_queue(pieces);
    collective_pieces_start_next(pieces);
    base_lock_release(&pieces->queue->lock);
}

/* Asks for the next piece, and starts another in its place. False when it is not over. One that failed to start has no
 * request, and is over. */
static bool pieces_end_piece(struct collective_pieces *pieces)
{
    MPI_Status status;
    int is_over = 0;
    int result = errors_test(&pieces->home, &pieces->work.requests[pieces->work.ended], &is_over, &status);
    pieces_note_failure(pieces, result);
    if (result == MPI_SUCCESS && !is_over)
        return false;
    pieces_note_failure(pieces, collective_work_end_piece(&pieces->work, pieces->failure == MPI_SUCCESS));
    collective_pieces_start_next(pieces);
    return true;
}

bool collective_pieces_advance(struct collective_pieces *pieces, int *result)
{
    base_lock_take(&pieces->queue->lock);
    while (pieces->work.ended < pieces->work.started && pieces_end_piece(pieces))
        continue;
    *result = pieces->failure;
    base_lock_release(&pieces->queue->lock);
    return pieces->work.ended == pieces->work.cut.pieces;
}

int collective_pieces_raise(const struct collective_pieces *pieces, int result)
{
    if (result == MPI_SUCCESS)
        return result;
    gate_enter();
    real.MPI_Comm_call_errhandler(pieces->home.comm, result);
    gate_leave();
    return result;
}

int collective_pieces_wait(struct collective_pieces *pieces, uint32_t until)
{
    int result = MPI_SUCCESS;
    bool are_over = false;
    uint32_t wait = stall_wait_begin();
    for (uint32_t round = 0; !are_over; round++) {
        gate_enter(); /* not dispatch_enter(): that would start all pieces at once */
        collective_pieces_advance(pieces, &result);
        are_over = pieces->work.ended >= until;
        gate_leave();
        if (!are_over)
            transfer_poll_round(round);
    }
    stall_wait_end(wait);
    return result;
}
