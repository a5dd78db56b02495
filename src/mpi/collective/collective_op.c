/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_op.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/pages.h"
#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "mpi/collective/collective_alone.h"
#include "mpi/collective/collective_list.h"
#include "mpi/collective/collective_staging.h"
#include "libc/sharing.h"
#include "mpi/progress.h"
#include "mpi/errors.h"
#include "op/arming.h"
#include "op/begin.h"
#include "op/call_site.h"
#include "op/copies.h"
#include "op/judge.h"
#include "op/late_errors.h"
#include "op/neighbours.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/stall.h"

/* Pieces under way at a time. One would leave the network idle between two pieces; with all of them MPI sends parts of
 * each in turn, so that the first is over when the last is (measured with Open MPI 4.1, ob1 over TCP). */
enum { COLLECTIVE_WINDOW = 2 };

/* Memory of an op that is held: by so many holds of its transfer from `first` on, one for each block, or one for all.
 * block: where the program has the first block; 0: nothing is given back before the end. */
struct side {
    uint32_t first;
    uint32_t holds;
    uintptr_t block;
};

/* One under way: in the slot of its transfer, or in the frame of a call that waits. Written by the call before it is
 * launched; then by who asks for its pieces or starts them, under the lock of `ops`. */
struct collective_op {
    struct collective_work work;
    struct errors_home home;
    struct collective_op *next; /* of those with pieces to start */
    bool is_listed;
    int failure; /* of a start */
    /* Of those that return early. */
    struct collective_comm *comm;
    struct collective_choice *choice;
    enum collective_choice_kind kind;
    int64_t inside_ns; /* from the call to its early return, without stalls */
    struct side receive;
    struct side send;
    void *copy;
    void *lists;
    size_t reserved_bytes;
    bool waits_for_edges; /* no other piece is started before these are over */
    bool keeps_order;     /* nothing that others can see comes before it is matched (op/session.h) */
    bool is_unmatched;    /* counted as such (op/transfer.h) */
};

/* list: ops with pieces to start. */
static struct {
    struct base_lock lock;
    struct collective_op *list;
    struct collective_op slots[TRANSFERS_MAX];
} ops;

static struct collective_op *op_of(const struct transfer *transfer)
{
    return &ops.slots[transfer->slot];
}

/* --- pieces: under the lock, inside the gate --- */

static void op_list(struct collective_op *op)
{
    op->next = ops.list;
    ops.list = op;
    op->is_listed = true;
    /* relaxed: the gate, or the order of the program's own calls, brings it to whoever must see it */
    atomic_fetch_add_explicit(&dispatch_unstarted[DISPATCH_PIECES].count, 1, memory_order_relaxed);
}

static void op_unlist(struct collective_op *op)
{
    struct collective_op **link = &ops.list;
    if (!op->is_listed)
        return;
    while (*link != op)
        link = &(*link)->next;
    *link = op->next;
    op->is_listed = false;
    atomic_fetch_sub_explicit(&dispatch_unstarted[DISPATCH_PIECES].count, 1, memory_order_relaxed);
}

/* The others go on, and end: until then MPI uses the memory, and the other ranks count on them. */
static void op_note_failure(struct collective_op *op, int result)
{
    if (op->failure == MPI_SUCCESS)
        op->failure = result;
}

static void op_start_until(struct collective_op *op, uint32_t pieces)
{
    uint32_t most = pieces < op->work.cut.pieces ? pieces : op->work.cut.pieces;
    while (op->work.started < most)
        op_note_failure(op, collective_work_start(&op->work));
    if (op->work.started == op->work.cut.pieces)
        op_unlist(op);
}

/* Before another call of the program's goes to MPI: it may wait there for a rank that waits for these pieces. */
static void ops_start_all(void)
{
    base_lock_take(&ops.lock);
    while (ops.list != NULL)
        op_start_until(ops.list, COLLECTIVE_CUT_PIECES_MAX);
    base_lock_release(&ops.lock);
}

/* The next ones wait until those are over that are to go first. */
static void op_start_next(struct collective_op *op)
{
    op_start_until(op, op->waits_for_edges ? COLLECTIVE_CUT_EDGES : op->work.ended + COLLECTIVE_WINDOW);
}

static void op_begin(struct collective_op *op)
{
    base_lock_take(&ops.lock);
    dispatch_unstarted[DISPATCH_PIECES].start_all = ops_start_all;
    op_list(op);
    op_start_next(op);
    base_lock_release(&ops.lock);
}

/* Asks for the next piece, and starts another in its place. False when it is not over. One that failed to start has no
 * request, and is over. */
static bool op_end_piece(struct collective_op *op)
{
    MPI_Status status;
    int is_over = 0;
    int result = errors_test(&op->home, &op->work.requests[op->work.ended], &is_over, &status);
    op_note_failure(op, result);
    if (result == MPI_SUCCESS && !is_over)
        return false;
    op_note_failure(op, collective_work_end_piece(&op->work, op->failure == MPI_SUCCESS));
    op_start_next(op);
    return true;
}

/* True when the op is over. Inside the gate. */
static bool op_advance(struct collective_op *op, int *result)
{
    base_lock_take(&ops.lock);
    while (op->work.ended < op->work.started && op_end_piece(op))
        continue;
    *result = op->failure;
    base_lock_release(&ops.lock);
    return op->work.ended == op->work.cut.pieces;
}

/* Pieces travel on a communicator of ours, where no error is raised: it belongs to the program's. */
static int op_raise(const struct collective_op *op, int result)
{
    if (result == MPI_SUCCESS)
        return result;
    gate_enter();
    real.MPI_Comm_call_errhandler(op->home.comm, result);
    gate_leave();
    return result;
}

/* --- ops that return early --- */

/* What this rank gets of the first piece is there: all ranks that it needs have come to this call. */
static bool op_is_matched(const struct collective_op *op)
{
    return op->work.ended != 0;
}

static void op_note_matched(struct collective_op *op)
{
    if (!op->is_unmatched || !op_is_matched(op))
        return;
    op->is_unmatched = false;
    transfer_unmatched_remove();
}

/* How far a hold's bytes have come, or gone, from side->block on. */
static int64_t receive_come(const struct collective_work *work, uint32_t hold)
{
    return work->blocks != NULL ? collective_parts_come(work->blocks, &work->cut, hold, work->ended)
                                : (int64_t)(hold * work->receive_stride_bytes + collective_work_come(work));
}

/* Of the send. */
static int64_t send_gone(const struct collective_work *work, uint32_t hold)
{
    (void)hold; /* there is one */
    return (int64_t)(work->blocks != NULL ? collective_parts_gone(work->blocks, &work->cut, work->ended)
                                          : collective_work_come(work));
}

typedef int64_t side_end_fn(const struct collective_work *work, uint32_t hold);

static void side_release(struct transfer *transfer, const struct side *side, const struct collective_work *work,
                         side_end_fn *end_of)
{
    for (uint32_t i = 0; side->block != 0 && i < side->holds; i++) {
        uintptr_t end = side->block + (uintptr_t)end_of(work, i);
        transfer_release_until(transfer, side->first + i, end & ~(base_page_bytes() - 1));
    }
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
    void *copy = op->copy;
    void *lists = op->lists;
    size_t reserved_bytes = op->reserved_bytes;
    struct transfer_outcome outcome = transfer_end(transfer); /* the slot is another's from here on */
    if (choice != NULL)
        collective_choice_learn(choice, kind, inside_ns + outcome_price_ns(&outcome));
    collective_comm_leave(comm);
    copies_give_back(copy);
    free(lists);
    copies_unreserve(reserved_bytes);
}

/* The engine's question. */
static bool op_test(struct engine_pending_op *pending)
{
    struct transfer *transfer = (struct transfer *)pending;
    struct collective_op *op = op_of(transfer);
    uint32_t ended_before = op->work.ended;
    int result;
    bool is_over = op_advance(op, &result);
    op_note_matched(op);
    if (is_over) {
        if (op_raise(op, result) != MPI_SUCCESS)
            late_errors_keep(result);
        op_end(transfer, op);
    } else if (op->work.ended != ended_before) {
        side_release(transfer, &op->receive, &op->work, receive_come);
        side_release(transfer, &op->send, &op->work, send_gone);
    }
    return is_over;
}

/* What lies on two blocks' border belongs to the hold before it: that block's end comes last. held: all of it. */
static enum reason blocks_hold(struct transfer *transfer, const struct collective_call *call, struct range held,
                               struct side *side)
{
    struct range all = call->receive.range;
    uint32_t blocks = (uint32_t)call->receive_blocks;
    bool are_apart = blocks + 1 < TRANSFER_HOLDS_MAX && call->receive_stride_bytes >= base_page_bytes();
    uint32_t holds = are_apart ? blocks : 1;
    *side = (struct side){.first = transfer->hold_count, .holds = holds, .block = are_apart ? all.low : 0};
    uintptr_t low = held.low;
    enum reason reason = REASON_NONE;
    for (uint32_t i = 1; reason == REASON_NONE && i <= holds; i++) {
        struct range until = {all.low, all.low + i * call->receive_stride_bytes};
        uintptr_t high = i == holds ? held.high : base_pages_of(until).high;
        reason = transfer_hold(transfer, HOLD_NO_ACCESS, (struct range){low, high});
        low = high;
    }
    return reason;
}

/* The same for blocks that differ in length. */
static enum reason parts_hold(struct transfer *transfer, const struct collective_call *call,
                              struct collective_parts *parts, struct side *side)
{
    uintptr_t base = (uintptr_t)call->receive.buffer;
    uintptr_t low = call->receive.range.low;
    enum reason reason = REASON_NONE;
    collective_parts_share(parts, base_page_bytes());
    *side = (struct side){.first = transfer->hold_count, .holds = parts->holds, .block = base};
    for (uint32_t i = 1; reason == REASON_NONE && i <= parts->holds; i++) {
        uintptr_t high = call->receive.range.high;
        if (i < parts->holds)
            high = base_pages_of((struct range){low, base + (uintptr_t)collective_parts_begin(parts, i)}).high;
        reason = transfer_hold(transfer, HOLD_NO_ACCESS, (struct range){low, high});
        low = high;
    }
    return reason;
}

static enum reason receive_hold(struct transfer *transfer, const struct collective_call *call, struct range held,
                                struct side *side)
{
    struct collective_parts *parts = op_of(transfer)->work.blocks;
    if (call->receive_blocks == 0)
        return REASON_NONE;
    arming_begin();
    enum reason reason = neighbours_check(held, false, false);
    if (reason == REASON_NONE)
        reason = parts != NULL ? parts_hold(transfer, call, parts, side) : blocks_hold(transfer, call, held, side);
    arming_end();
    return reason;
}

/* The pages on which anything is missing once the edges are there. Empty: other data share them, or there are none. */
static struct range range_between_edges(const struct collective_call *call, const struct collective_work *work)
{
    struct range whole = base_pages_within(call->receive.range);
    uint64_t last_block_bytes = (uint64_t)(call->receive_blocks - 1) * call->receive_stride_bytes;
    uintptr_t first_end = call->receive.range.low + collective_work_end(work, 1);
    uintptr_t last_begin = call->receive.range.low + last_block_bytes + collective_work_end(work, work->cut.pieces - 1);
    struct range between = base_pages_of((struct range){first_end, last_begin});
    return base_range_covers(whole, between) ? between : (struct range){0, 0};
}

static enum reason side_hold(struct transfer *transfer, struct range bytes, struct range held, enum hold_kind kind,
                             bool may_hide_gaps)
{
    struct begin_memory memory = {.kind = kind, .bytes = bytes, .alone = held, .may_hide_gaps = may_hide_gaps};
    return begin_hold(transfer, &memory);
}

/* MPI may write what the root of a broadcast sends, with the bytes that are there: MPICH lets all ranks exchange what
 * it has scattered. So the pages move, as those of a receive; the program gets copies of what it touches, or waits. */
static enum reason root_hold(struct transfer *transfer, struct collective_call *call, struct side *side)
{
    struct message *sent = &call->send;
    bool moves = sent->reserved_bytes != 0;
    struct range held = moves ? base_pages_within(sent->range) : sent->range;
    if (call->function != COLLECTIVE_BCAST || call->send_blocks == 0 || sent->is_copied)
        return REASON_NONE;
    if (!message_pages_are_free(base_pages_of(held)))
        return REASON_MEMORY_NEIGHBOURS;
    *side = (struct side){.first = transfer->hold_count, .holds = 1, .block = moves ? 0 : sent->range.low};
    op_of(transfer)->reserved_bytes = sent->reserved_bytes;
    transfer->way = moves ? POLICY_COPY_TOUCHED : POLICY_HOLD;
    return side_hold(transfer, sent->range, held, moves ? HOLD_COPY_ON_TOUCH : HOLD_NO_ACCESS, false);
}

static enum reason send_hold(struct transfer *transfer, const struct collective_call *call, struct side *side)
{
    if (call->function == COLLECTIVE_BCAST || call->send_blocks == 0 || call->send.is_copied)
        return REASON_NONE;
    *side = (struct side){.first = transfer->hold_count, .holds = 1};
    if (call->send_blocks == 1)
        side->block = call->send.range.low;
    return side_hold(transfer, call->send.range, call->send.range, HOLD_NO_WRITE, call->is_given);
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
    *op = (struct collective_op){.comm = comm, .choice = call->choice, .kind = call->kind, .copy = call->send.copy};
    work_fill(&op->work, call, comm);
    op->lists = op_keep_lists(&op->work);
    transfer->op.test = op_test;
    transfer->op.is_schedule = true;
    transfer->direction = POLICY_COLLECTIVE;
    transfer->site = NULL;
    transfer->place = call_site_of(call->given.caller);
    transfer->situation = 0;
    transfer->bytes = collective_call_bytes(call);
}

/* MPI works where the pages have moved. */
static void op_redirect(struct transfer *transfer, struct collective_op *op, const struct collective_call *call)
{
    bool is_receive = op->receive.holds != 0;
    const struct side *side = is_receive ? &op->receive : &op->send;
    const struct message *message = is_receive ? &call->receive : &call->send;
    if (side->holds == 0)
        return;
    op->work.receive = (char *)message->buffer + transfer->holds[side->first].moved_bytes;
}

static int op_wait_pieces(struct collective_op *op, uint32_t pieces)
{
    int result = MPI_SUCCESS;
    bool are_over = false;
    uint32_t wait = stall_wait_begin();
    for (uint32_t round = 0; !are_over; round++) {
        gate_enter(); /* not dispatch_enter(): that would start all pieces at once */
        op_advance(op, &result);
        are_over = op->work.ended >= pieces;
        gate_leave();
        if (!are_over)
            transfer_poll_round(round);
    }
    stall_wait_end(wait);
    return result;
}

static int op_wait(struct collective_op *op)
{
    return op_raise(op, op_wait_pieces(op, op->work.cut.pieces));
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
static void op_let_mpi_write(struct collective_op *op)
{
    op->work.is_by_mpi = op->work.is_local;
    if (op->work.is_by_mpi && !progress_prepare())
        collective_alone_end("MPI gives no communicator to deliver a sum");
}

/* Under the lock, as in collective_local.c: one thread copies at a time (mpi/progress.h). */
static void op_pack(struct collective_staging *staging, const struct collective_call *call, struct collective_op *op)
{
    base_lock_take(&ops.lock);
    collective_staging_begin(staging, call, &op->work);
    base_lock_release(&ops.lock);
}

static void op_unpack(struct collective_staging *staging, const struct collective_call *call,
                      const struct collective_op *op, bool has_come)
{
    gate_enter();
    base_lock_take(&ops.lock);
    collective_staging_end(staging, call, &op->work, has_come);
    base_lock_release(&ops.lock);
    gate_leave();
}

/* The call waits: nothing of it is held. */
static int op_run_inside(const struct collective_call *call, struct collective_comm *comm)
{
    struct collective_op op = {.failure = MPI_SUCCESS};
    struct collective_staging staging = {NULL};
    work_fill(&op.work, call, comm);
    collective_op_wait_memory(call);
    dispatch_enter();
    op_let_mpi_write(&op);
    op_pack(&staging, call, &op);
    op.home = errors_home_of(call->given.comm);
    call_track(call);
    op_begin(&op);
    gate_leave();
    int result = op_wait(&op);
    op_unpack(&staging, call, &op, result == MPI_SUCCESS);
    free(op.work.blocks);
    free(op.work.places);
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
    if (op_advance(op, result))
        return REASON_FINISHED_AT_ONCE;
    enum reason reason = send_hold(transfer, call, &op->send);
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
    op->home = errors_home_of(call->given.comm);
    enum reason reason = receive_hold(transfer, call, call->receive.range, &op->receive);
    if (reason != REASON_NONE)
        return reason;
    reason = root_hold(transfer, call, &op->send);
    if (reason != REASON_NONE)
        return reason;
    op_redirect(transfer, op, call);
    op_begin(op);
    return op_launch(transfer, call, result);
}

/* Under the lock: a call of another thread may start all pieces at any other time (ops_start_all()), and must then find
 * out where. */
static enum reason op_redirect_between_edges(struct transfer *transfer, struct collective_call *call)
{
    struct collective_op *op = op_of(transfer);
    enum reason reason = REASON_OTHER_THREAD;
    if (op->work.started == COLLECTIVE_CUT_EDGES)
        reason = receive_hold(transfer, call, range_between_edges(call, &op->work), &op->receive);
    if (reason == REASON_NONE)
        op_redirect(transfer, op, call);
    else
        transfer_unhold(transfer);
    return reason;
}

/* The edges are there. The rest is held, if it has not been started. */
static enum reason op_hold_between_edges(struct transfer *transfer, struct collective_call *call, int *result)
{
    base_lock_take(&ops.lock);
    enum reason reason = op_redirect_between_edges(transfer, call);
    op_of(transfer)->waits_for_edges = false;
    op_start_next(op_of(transfer));
    base_lock_release(&ops.lock);
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
    result = is_over ? op_raise(op, result) : op_wait(op);
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
    base_lock_take(&ops.lock);
    bool is_unmatched = transfer_is_pending(id) && !op_is_matched(op);
    base_lock_release(&ops.lock);
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
    op->home = errors_home_of(call->given.comm);
    op->waits_for_edges = true;
    call_track(call);
    op_begin(op);
    gate_leave();
    op_wait_pieces(op, COLLECTIVE_CUT_EDGES); /* nothing is held yet */
    gate_enter();                             /* not dispatch_enter(), as there */
    call_untrack(call);
    enum reason reason = op_hold_between_edges(transfer, call, result);
    gate_leave();
    return reason;
}

/* Could the call return early if the edges went first? */
static bool op_needs_edges(const struct collective_op *op, const struct collective_call *call)
{
    struct collective_work work = op->work;
    if (work.blocks != NULL)
        return false; /* edges of blocks that differ in length do not go first */
    collective_work_cut(&work, call->kind == COLLECTIVE_CHOICE_WHOLE, true);
    struct range between = range_between_edges(call, &work);
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
    if (reason != REASON_MEMORY_NEIGHBOURS || call->receive_blocks == 0 || op->work.started != 0 ||
        !op_needs_edges(op, call))
        return reason;
    if (call->choice != NULL)
        call->choice->shares_edges = true;
    return op->work.cut.edge_bytes != 0 ? op_run_behind_edges(transfer, call, result) : reason;
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
    if (op_of(transfer)->work.started == 0) {
        op_cancel(transfer);
        return op_run_waiting(call, comm, reason);
    }
    collective_call_note_pass(call, reason, collective_call_bytes(call));
    result = op_finish_inside(transfer, call, reason, result);
    run_learn(call);
    return result;
}
