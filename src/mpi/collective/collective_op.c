/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_op.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/pages.h"
#include "engine/gate.h"
#include "libc/sharing.h"
#include "mpi/dispatch.h"
#include "mpi/errors.h"
#include "mpi/progress.h"
#include "mpi/collective/collective_alone.h"
#include "mpi/collective/collective_list.h"
#include "mpi/collective/collective_pieces.h"
#include "mpi/collective/collective_side.h"
#include "mpi/collective/collective_staging.h"
#include "op/call_site.h"
#include "op/judge.h"
#include "op/late_errors.h"
#include "op/neighbours.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/stall.h"
#include "op/transfer.h"

/* One that returns early, in the slot of its transfer. Written by the call before it is launched. */
struct collective_op {
    struct collective_pieces pieces;
    struct collective_comm *comm;
    struct collective_choice *choice;
    enum collective_choice_kind kind;
    int64_t inside_ns; /* from the call to its early return, without stalls */
    struct collective_side receive;
    struct collective_side send;
    void *lists;
    bool keeps_order;  /* nothing that others can see comes before it is matched (op/session.h) */
    bool is_unmatched; /* counted as such (op/transfer.h) */
};

static void ops_start_all(void);

static struct {
    struct collective_pieces_queue queue;
    struct collective_op slots[TRANSFERS_MAX];
} ops = {.queue = {.start_all = ops_start_all}};

static void ops_start_all(void)
{
    collective_pieces_start_all(&ops.queue);
}

static struct collective_op *op_of(const struct transfer *transfer)
{
    return &ops.slots[transfer->slot];
}

/* --- ops that return early --- */

/* What this rank gets of the first piece is there: all ranks that it needs have come to this call. */
static bool op_is_matched(const struct collective_op *op)
{
    return op->pieces.work.ended != 0;
}

static void op_note_matched(struct collective_op *op)
{
    if (!op->is_unmatched || !op_is_matched(op))
        return;
    op->is_unmatched = false;
    transfer_unmatched_remove();
}

/* How long it stopped the program, and slowed it down: what the engine takes of the core while the program waits costs
 * nothing. */
static int64_t outcome_price_ns(const struct transfer_outcome *outcome)
{
    double overlapped = outcome->lasted_ns <= 0 ? 0 : (double)outcome->overlapped_ns / (double)outcome->lasted_ns;
    return outcome->stopped_ns + outcome->cost_ns + (int64_t)((double)outcome->engine_ns * overlapped);
}

static void op_end(struct transfer *transfer, struct collective_op *op)
{
    struct collective_comm *comm = op->comm;
    struct collective_choice *choice = op->choice;
    enum collective_choice_kind kind = op->kind;
    int64_t inside_ns = op->inside_ns;
    void *lists = op->lists;
    struct transfer_outcome outcome = transfer_end(transfer); /* the slot is another's from here on */
    if (choice != NULL)
        collective_choice_learn(choice, kind, inside_ns + outcome_price_ns(&outcome));
    collective_comm_leave(comm);
    free(lists);
}

/* The engine's question. */
static bool op_test(struct engine_pending_op *pending)
{
    struct transfer *transfer = (struct transfer *)pending;
    struct collective_op *op = op_of(transfer);
    uint32_t ended_before = op->pieces.work.ended;
    int result;
    bool is_over = collective_pieces_advance(&op->pieces, &result);
    op_note_matched(op);
    if (is_over) {
        if (collective_pieces_raise(&op->pieces, result) != MPI_SUCCESS)
            late_errors_keep(result);
        op_end(transfer, op);
    } else if (op->pieces.work.ended != ended_before) {
        collective_side_release_receive(transfer, &op->receive, &op->pieces.work);
        collective_side_release_send(transfer, &op->send, &op->pieces.work);
    }
    return is_over;
}

/* --- a call --- */

static void work_fill(struct collective_work *work, const struct collective_call *call, struct collective_comm *comm)
{
    *work = (struct collective_work){.function = call->function,
                                     .comm = comm->beside,
                                     .size = comm->size,
                                     .root = call->given.root,
                                     .op = call->given.op,
                                     .datatype = call->given.block_type,
                                     .count = call->given.block_count,
                                     .block_bytes = call->block_bytes,
                                     .send_stride_bytes = call->send_stride_bytes,
                                     .receive_stride_bytes = call->receive_stride_bytes,
                                     .send = call->send_blocks != 0 ? call->send.buffer : call->given.send,
                                     .receive = call->given.receive,
                                     .is_given = call->is_given,
                                     .has_large_counts = call->given.has_large_counts,
                                     .sent = call->sent,
                                     .received = call->received};
    if (collective_work_reduces(call->function))
        work->extent_bytes = datatype_layout(work->datatype)->extent_bytes;
    work->is_local = work->function == COLLECTIVE_ALLREDUCE &&
                     collective_local_suits(work->op, work->datatype, work->block_bytes, work->size);
    if (call->function == COLLECTIVE_BCAST && call->send_blocks != 0)
        work->receive = call->send.buffer;
    work->longest_bytes = call->longest_bytes;
    bool has_edges = work->longest_bytes == 0 && (call->choice == NULL || call->choice->has_edges);
    collective_work_cut(work, call->kind == COLLECTIVE_CHOICE_WHOLE, has_edges);
    if (call->longest_bytes != 0)
        work->blocks = collective_parts_new(&call->received, comm->rank, work->cut.pieces, call->is_in_a_row);
    else
        collective_work_list_places(work);
}

/* Memory that MPI needs until the op is over; at most one kind. */
static void *op_keep_lists(struct collective_work *work)
{
    if (work->blocks != NULL)
        return work->blocks;
    return work->places != NULL ? work->places : collective_list_keep(work);
}

/* Not matched first, as receives are (judge_may_lock_out()). */
static enum reason op_judge_receive(const struct collective_call *call)
{
    return judge_may_lock_out() ? REASON_OTHER_THREAD : message_judge_to_hold(&call->receive);
}

/* Memory that cannot be held may be copied, if it is sent. */
static enum reason op_judge_send(struct collective_call *call)
{
    dispatch_wait_range(call->send.range, true); /* before it is copied */
    enum reason reason = message_judge_to_hold(&call->send);
    bool is_root = reason == REASON_NONE && call->function == COLLECTIVE_BCAST;
    /* A root that goes on to read page by page would wait for a copy of each: 13 ms for 2 MiB, which copying all at
     * once does in 0.2. */
    if (is_root && (message_copy(&call->send) || message_copy_touched(&call->send)))
        return REASON_NONE;
    bool is_heap = reason == REASON_NONE && libc_sharing_is_heap(call->send.range);
    if ((is_heap || reason == REASON_SMALL || judge_may_copy(reason)) && message_copy(&call->send))
        return REASON_NONE;
    return is_heap ? REASON_MEMORY_NEIGHBOURS : reason;
}

static bool call_shares_pages(const struct collective_call *call)
{
    return call->send_blocks != 0 && call->receive_blocks != 0 && !call->send.is_copied &&
           base_ranges_overlap(base_pages_of(call->send.range), base_pages_of(call->receive.range));
}

static enum reason op_judge(struct collective_call *call)
{
    enum reason reason = session_reason_to_begin();
    if (reason == REASON_NONE && !(call->is_plain_send && call->is_plain_receive))
        reason = REASON_DATATYPE;
    if (reason == REASON_NONE && gate_is_inside())
        reason = REASON_CALLBACK; /* a function of the program's that MPI has called */
    if (reason == REASON_NONE && !session_has_engine())
        reason = REASON_NO_ENGINE;
    if (reason == REASON_NONE && call->receive_blocks != 0)
        reason = op_judge_receive(call);
    if (reason == REASON_NONE && call->send_blocks != 0)
        reason = op_judge_send(call);
    return reason == REASON_NONE && call_shares_pages(call) ? REASON_OVERLAPPING_BUFFERS : reason;
}

static void op_describe(struct transfer *transfer, const struct collective_call *call, struct collective_comm *comm)
{
    struct collective_op *op = op_of(transfer);
    *op = (struct collective_op){.pieces.queue = &ops.queue, .comm = comm, .choice = call->choice, .kind = call->kind};
    work_fill(&op->pieces.work, call, comm);
    op->lists = op_keep_lists(&op->pieces.work);
    transfer->op.test = op_test;
    transfer->op.is_schedule = true;
    transfer->direction = POLICY_COLLECTIVE;
    transfer->copy = call->send.copy;
    transfer->site = NULL;
    transfer->place = call_site_of(call->given.caller);
    transfer->situation = 0;
    transfer->bytes = collective_call_bytes(call);
}

/* MPI works where the pages have moved. */
static void op_redirect(struct transfer *transfer, struct collective_op *op, const struct collective_call *call)
{
    bool is_receive = op->receive.holds != 0;
    const struct collective_side *side = is_receive ? &op->receive : &op->send;
    const struct message *message = is_receive ? &call->receive : &call->send;
    if (side->holds == 0)
        return;
    op->pieces.work.receive = (char *)message->buffer + transfer->holds[side->first].moved_bytes;
}

static int pieces_wait(struct collective_pieces *pieces)
{
    return collective_pieces_raise(pieces, collective_pieces_wait(pieces, pieces->work.cut.pieces));
}

static uint64_t call_key(const struct collective_call *call)
{
    return (uint64_t)(uintptr_t)call; /* no request has the address of our frame */
}

/* No hold arms around the memory of a call that waits. */
static void call_track(const struct collective_call *call)
{
    if (call->receive_blocks != 0)
        requests_track(call_key(call), call->receive.range);
    if (call->send_blocks != 0)
        requests_track(call_key(call) + 1, call->send.range);
}

static void call_untrack(const struct collective_call *call)
{
    if (call->receive_blocks != 0)
        requests_untrack(call_key(call));
    if (call->send_blocks != 0)
        requests_untrack(call_key(call) + 1);
}

void collective_op_wait_memory(const struct collective_call *call)
{
    if (call->receive_blocks != 0)
        dispatch_wait_range(call->receive.range, false);
    if (call->send_blocks != 0)
        dispatch_wait_range(call->send.range, true);
}

/* What may be a device's memory only MPI can write. */
static void work_let_mpi_write(struct collective_work *work)
{
    work->is_by_mpi = work->is_local;
    if (work->is_by_mpi && !progress_prepare())
        collective_alone_end("MPI gives no communicator to deliver a sum");
}

/* Under the lock, as in collective_local.c: one thread copies at a time (mpi/progress.h). */
static void work_pack(struct collective_work *work, const struct collective_call *call,
                      struct collective_staging *staging)
{
    base_lock_take(&ops.queue.lock);
    collective_staging_begin(staging, call, work);
    base_lock_release(&ops.queue.lock);
}

static void work_unpack(const struct collective_work *work, const struct collective_call *call,
                        struct collective_staging *staging, bool has_come)
{
    gate_enter();
    base_lock_take(&ops.queue.lock);
    collective_staging_end(staging, call, work, has_come);
    base_lock_release(&ops.queue.lock);
    gate_leave();
}

/* The call waits: nothing of it is held. */
static int op_run_inside(const struct collective_call *call, struct collective_comm *comm)
{
    struct collective_pieces pieces = {.queue = &ops.queue, .failure = MPI_SUCCESS};
    struct collective_staging staging = {NULL};
    work_fill(&pieces.work, call, comm);
    collective_op_wait_memory(call);
    dispatch_enter();
    work_let_mpi_write(&pieces.work);
    work_pack(&pieces.work, call, &staging);
    pieces.home = errors_home_of(call->given.comm);
    call_track(call);
    collective_pieces_begin(&pieces);
    gate_leave();
    int result = pieces_wait(&pieces);
    work_unpack(&pieces.work, call, &staging, result == MPI_SUCCESS);
    free(pieces.work.blocks);
    free(pieces.work.places);
    call_untrack(call);
    return late_errors_or(result);
}

/* A rank that only sends needs none of the others: what it receives, if anything, is its own. */
static bool call_needs_others(const struct collective_call *call, int rank)
{
    bool is_scatter = call->function == COLLECTIVE_SCATTER || call->function == COLLECTIVE_SCATTERV;
    bool is_scan = call->function == COLLECTIVE_SCAN || call->function == COLLECTIVE_EXSCAN;
    bool is_root = rank == call->given.root && !call->is_between;
    bool gets_own = (is_scatter && is_root) || (is_scan && rank == 0);
    return call->receive_blocks != 0 && !gets_own;
}

/* As messages are that are received (mpi/message/message_turn.h). */
static void op_count_unmatched(struct collective_op *op, const struct collective_call *call)
{
    op->is_unmatched = call_needs_others(call, op->comm->rank) && op->keeps_order && !op_is_matched(op);
    if (op->is_unmatched)
        transfer_unmatched_add();
}

/* Inside the gate, as the next two. What was started is held. REASON_NONE: launched. REASON_FINISHED_AT_ONCE: over,
 * with *result. Else it must be waited for. */
static enum reason op_launch(struct transfer *transfer, struct collective_call *call, int *result)
{
    struct collective_op *op = op_of(transfer);
    if (collective_pieces_advance(&op->pieces, result))
        return REASON_FINISHED_AT_ONCE;
    enum reason reason = collective_side_hold_send(transfer, call, &op->send);
    if (reason != REASON_NONE) {
        call_track(call); /* until op_finish_inside() has waited for it */
        return reason;
    }
    op->inside_ns = stall_ran_ns() - call->begun_ran_ns;
    op_count_unmatched(op, call);
    collective_comm_use(op->comm);
    transfer_launch(transfer);
    return REASON_NONE;
}

/* As above; when nothing was started, nothing has to be waited for. */
static enum reason op_start_held(struct transfer *transfer, struct collective_call *call, int *result)
{
    struct collective_op *op = op_of(transfer);
    op->pieces.home = errors_home_of(call->given.comm);
    enum reason reason =
        collective_side_hold_receive(transfer, call, op->pieces.work.blocks, call->receive.range, &op->receive);
    if (reason != REASON_NONE)
        return reason;
    reason = collective_side_hold_root(transfer, call, &op->send);
    if (reason != REASON_NONE)
        return reason;
    op_redirect(transfer, op, call);
    collective_pieces_begin(&op->pieces);
    return op_launch(transfer, call, result);
}

/* Under the lock: a call of another thread may start all pieces at any other time (ops_start_all()), and must then find
 * out where. */
static enum reason op_redirect_between_edges(struct transfer *transfer, struct collective_call *call)
{
    struct collective_op *op = op_of(transfer);
    enum reason reason = REASON_OTHER_THREAD;
    if (op->pieces.work.started == COLLECTIVE_CUT_EDGES)
        reason = collective_side_hold_receive(transfer, call, op->pieces.work.blocks,
                                              collective_side_between_edges(call, &op->pieces.work), &op->receive);
    if (reason == REASON_NONE)
        op_redirect(transfer, op, call);
    else
        transfer_unhold(transfer);
    return reason;
}

/* The edges are there. The rest is held, if it has not been started. */
static enum reason op_hold_between_edges(struct transfer *transfer, struct collective_call *call, int *result)
{
    base_lock_take(&ops.queue.lock);
    enum reason reason = op_redirect_between_edges(transfer, call);
    op_of(transfer)->pieces.waits_for_edges = false;
    collective_pieces_start_next(&op_of(transfer)->pieces);
    base_lock_release(&ops.queue.lock);
    if (reason == REASON_NONE)
        return op_launch(transfer, call, result);
    call_track(call); /* as there */
    return reason;
}

static void op_cancel(struct transfer *transfer)
{
    free(op_of(transfer)->lists);
    transfer_cancel(transfer);
}

/* Not held, although that was begun. What was not over at once is tracked. */
static int op_finish_inside(struct transfer *transfer, struct collective_call *call, enum reason reason, int result)
{
    struct collective_op *op = op_of(transfer);
    bool is_over = reason == REASON_FINISHED_AT_ONCE;
    result = is_over ? collective_pieces_raise(&op->pieces, result) : pieces_wait(&op->pieces);
    if (!is_over)
        call_untrack(call);
    op_cancel(transfer);
    message_give_back(&call->send);
    return late_errors_or(result);
}

/* A window is memory that others see without a call of this process. */
static bool call_must_match(const struct collective_call *call, int rank)
{
    bool is_watched = session_order() == SESSION_ORDER_KEPT && requests_are_unknown();
    return call_needs_others(call, rank) && (is_watched || session_matches_collectives_first());
}

/* The op may be over, and its slot another's. */
static bool op_is_unmatched(const struct collective_op *op, uint64_t id)
{
    gate_enter();
    base_lock_take(&ops.queue.lock);
    bool is_unmatched = transfer_is_pending(id) && !op_is_matched(op);
    base_lock_release(&ops.queue.lock);
    gate_leave();
    return is_unmatched;
}

/* Launched before: who touches its memory meanwhile, be it a signal handler, is answered. */
static void op_wait_matched(const struct collective_op *op, uint64_t id)
{
    uint32_t wait = stall_wait_begin();
    for (uint32_t round = 0; op_is_unmatched(op, id); round++)
        transfer_poll_round(round);
    stall_wait_end(wait);
}

static enum reason op_run_early(struct transfer *transfer, struct collective_call *call, int *result)
{
    uint64_t id = transfer_id(transfer->slot);
    int rank = op_of(transfer)->comm->rank; /* the op may be over once it has been launched */
    collective_op_wait_memory(call);
    op_of(transfer)->keeps_order = session_order() == SESSION_ORDER_KEPT;
    dispatch_enter();
    enum reason reason = op_start_held(transfer, call, result);
    gate_leave();
    if (reason == REASON_NONE && call_must_match(call, rank))
        op_wait_matched(op_of(transfer), id);
    return reason;
}

/* The buffer's first or last page holds other data, too, so that it cannot be held as a whole. The call waits until
 * what lies there has come. */
static enum reason op_run_behind_edges(struct transfer *transfer, struct collective_call *call, int *result)
{
    struct collective_op *op = op_of(transfer);
    collective_op_wait_memory(call);
    dispatch_enter();
    op->pieces.home = errors_home_of(call->given.comm);
    op->pieces.waits_for_edges = true;
    call_track(call);
    collective_pieces_begin(&op->pieces);
    gate_leave();
    collective_pieces_wait(&op->pieces, COLLECTIVE_CUT_EDGES); /* nothing is held yet */
    gate_enter();                                              /* not dispatch_enter(), as there */
    call_untrack(call);
    enum reason reason = op_hold_between_edges(transfer, call, result);
    gate_leave();
    return reason;
}

/* Could the call return early if the edges went first? */
static bool op_needs_edges(const struct collective_op *op, const struct collective_call *call)
{
    struct collective_work work = op->pieces.work;
    if (work.blocks != NULL)
        return false; /* edges of blocks that differ in length do not go first */
    collective_work_cut(&work, call->kind == COLLECTIVE_CHOICE_WHOLE, true);
    struct range between = collective_side_between_edges(call, &work);
    if (work.cut.edge_bytes == 0 || base_range_is_empty(between))
        return false;
    gate_enter();
    enum reason reason = neighbours_check(between, false, false);
    gate_leave();
    return reason == REASON_NONE;
}

static enum reason op_run_held(struct transfer *transfer, struct collective_call *call, int *result)
{
    struct collective_op *op = op_of(transfer);
    enum reason reason = op_run_early(transfer, call, result);
    if (reason != REASON_MEMORY_NEIGHBOURS || call->receive_blocks == 0 || op->pieces.work.started != 0 ||
        !op_needs_edges(op, call))
        return reason;
    if (call->choice != NULL)
        call->choice->shares_edges = true;
    return op->pieces.work.cut.edge_bytes != 0 ? op_run_behind_edges(transfer, call, result) : reason;
}

static void run_learn(const struct collective_call *call)
{
    if (call->choice != NULL)
        collective_choice_learn(call->choice, call->kind, base_clock_now_ns() - call->begun_ns);
}

static int op_run_waiting(struct collective_call *call, struct collective_comm *comm, enum reason reason)
{
    collective_call_note_pass(call, reason, collective_call_bytes(call));
    int result = op_run_inside(call, comm);
    message_give_back(&call->send);
    run_learn(call);
    return result;
}

int collective_op_run(struct collective_call *call, struct collective_comm *comm)
{
    int result = MPI_SUCCESS;
    enum reason reason = op_judge(call);
    struct transfer *transfer = reason == REASON_NONE ? transfer_take() : NULL;
    if (transfer == NULL)
        return op_run_waiting(call, comm, reason == REASON_NONE ? REASON_TOO_MANY_OPS : reason);
    op_describe(transfer, call, comm);
    reason = op_run_held(transfer, call, &result);
    if (reason == REASON_NONE)
        return late_errors_take();
    if (op_of(transfer)->pieces.work.started == 0) {
        op_cancel(transfer);
        return op_run_waiting(call, comm, reason);
    }
    collective_call_note_pass(call, reason, collective_call_bytes(call));
    result = op_finish_inside(transfer, call, reason, result);
    run_learn(call);
    return result;
}
