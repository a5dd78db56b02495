/* SPDX-License-Identifier: MIT */
/* How messages start of which calls return early (message.h), and how they end. */
#include <stddef.h>

#include "base/clock.h"
#include "base/pages.h"
#include "mpi/agreement.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "mpi/ending.h"
#include "mpi/errors.h"
#include "mpi/request/freed.h"
#include "mpi/message/message.h"
#include "mpi/message/message_turn.h"
#include "op/begin.h"
#include "op/copies.h"
#include "op/late_errors.h"
#include "op/requests.h"
#include "op/session.h"
#include "mpi/native.h"
#include "mpi/status.h"
#include "mpi/datatypes.h"

/* One message that is being started. status_number: of the status that was promised; 0: none. native: NULL until
 * message_keep(). */
struct start {
    struct message *message;
    message_start_fn *function;
    struct begin_op op;
    struct native *native;
    uint32_t status_number;
};

/* The engine's question. Frees the slot before it returns true. */
static bool message_test(struct engine_pending_op *op)
{
    struct transfer *transfer = (struct transfer *)op;
    struct native *native = native_of(transfer);
    if (native->stage != NATIVE_STARTED)
        message_turn_carry_on(transfer);
    if (native->stage != NATIVE_STARTED || !ending_settle(transfer))
        return false;
    transfer_end(transfer);
    return true;
}

static bool message_may_hide_gaps(const struct message *message)
{
    return message->direction == POLICY_SEND && datatype_may_hide_gaps(datatype_layout(message->datatype));
}

static bool message_moves(const struct message *message)
{
    return message->direction == POLICY_RECEIVE || message->reserved_bytes != 0;
}

/* A send that moves takes only the pages that are all its own (protect/scratch.h). */
static struct range message_held(const struct message *message)
{
    return message->reserved_bytes != 0 ? base_pages_within(message->range) : message->range;
}

static enum hold_kind message_hold_kind(const struct message *message)
{
    if (message->direction == POLICY_RECEIVE)
        return HOLD_NO_ACCESS;
    return message_moves(message) ? HOLD_COPY_ON_TOUCH : HOLD_NO_WRITE;
}

static enum reason message_hold(struct transfer *transfer, const struct message *message)
{
    struct begin_memory memory = {
        .kind = message_hold_kind(message),
        .bytes = message->range,
        .alone = message_held(message),
        .has_gaps = message->has_gaps,
        .may_hide_gaps = message_may_hide_gaps(message),
    };
    return begin_hold(transfer, &memory);
}

static void message_describe(const struct start *start)
{
    const struct message *message = start->message;
    struct transfer *transfer = start->op.transfer;
    transfer->op.test = message_test;
    transfer->op.is_schedule = false;
    transfer->direction = message->direction;
    transfer->bytes = message->bytes;
    transfer->site = message->site;
    transfer->situation = message->situation;
    if (message->is_copied)
        transfer->hold_cost_ns = copies_cost_ns(message->bytes);
}

/* What the op is ended by: from its start on, or while it awaits its turn. */
static void message_keep(struct start *start, MPI_Request request)
{
    const struct message *message = start->message;
    struct transfer *transfer = start->op.transfer;
    transfer->copy = message->copy;
    transfer->reserved_bytes = message->reserved_bytes;
    start->native = native_of(transfer);
    *start->native = (struct native){
        .request = request, .home = errors_home_of(message->comm), .status_number = start->status_number};
}

/* Where MPI finds the message: its pages may have moved. */
static void *message_transfer_buffer(const struct transfer *transfer, const struct message *message)
{
    if (!message_moves(message))
        return message->buffer;
    return (char *)message->buffer + transfer->holds[0].moved_bytes;
}

/* Holds what is to move. A send that cannot is held where it is: nothing has happened yet. But MPI could not read it
 * there beside a receive. */
static enum reason message_move(const struct start *start)
{
    struct message *message = start->message;
    struct transfer *transfer = start->op.transfer;
    if (message->direction == POLICY_RECEIVE)
        return message_hold(transfer, message);
    if (message_moves(message) &&
        (!message_pages_are_free(base_pages_within(message->range)) || message_hold(transfer, message) != REASON_NONE))
        message_stay(message);
    if (!message_moves(message) && !message->is_copied && message_is_beside(message))
        return REASON_MEMORY_NEIGHBOURS;
    transfer->way = message_moves(message) ? POLICY_COPY_TOUCHED : POLICY_HOLD;
    return REASON_NONE;
}

static bool message_is_held_in_place(const struct message *message)
{
    return !message_moves(message) && !message->is_copied;
}

/* What a receive's start takes, of which MPI may bring the data at once. */
static bool message_start_now(struct start *start, void *buffer, MPI_Status *status, int *result)
{
    MPI_Request request = abi_handles.request_null;
    const struct message *message = start->message;
    int64_t begin_ns = base_clock_now_ns();
    *result = start->function(message, buffer, &request);
    message_keep(start, request);
    bool is_over = ending_is_at_once(start->native, status, result);
    if (message->direction == POLICY_RECEIVE)
        policy_site_saw_start(message->site, base_clock_now_ns() - begin_ns);
    return is_over;
}

/* Over shared memory the peer copies from the buffer as soon as it knows of it, and to hold pages that are being read
 * takes some ten times as long. Elsewhere a send is posted before: registration by an RDMA library then sees plain
 * memory. */
static bool message_is_held_later(const struct message *message)
{
    return message_is_held_in_place(message) && !agreement_is_on_one_host();
}

static enum reason message_hold_in_place(const struct start *start)
{
    bool is_in_place = message_is_held_in_place(start->message);
    return is_in_place ? message_hold(start->op.transfer, start->message) : REASON_NONE;
}

/* Inside the gate, the memory not yet held. What moves is held before MPI hears of the address. `status` is ours: the
 * program's may lie on a page that is held by now. */
static enum reason message_start_held(struct start *start, MPI_Status *status, int *result)
{
    const struct message *message = start->message;
    enum reason reason = message_move(start);
    bool is_held_later = message_is_held_later(message);
    if (reason == REASON_NONE && !is_held_later)
        reason = message_hold_in_place(start);
    if (reason != REASON_NONE)
        return reason;
    if (message_start_now(start, message_transfer_buffer(start->op.transfer, message), status, result))
        return REASON_FINISHED_AT_ONCE;
    if (is_held_later)
        reason = message_hold_in_place(start);
    if (reason == REASON_NONE)
        transfer_launch(start->op.transfer);
    return reason;
}

/* The same for one that starts in its turn, which may be now. All memory is held before. */
static enum reason message_start_in_turn(struct start *start, MPI_Status *status, int *result)
{
    const struct message *message = start->message;
    *result = message_check(message, message->direction);
    if (*result != MPI_SUCCESS)
        return REASON_FINISHED_AT_ONCE;
    enum reason reason = message_move(start);
    if (reason == REASON_NONE)
        reason = message_hold_in_place(start);
    if (reason != REASON_NONE)
        return reason;
    void *buffer = message_transfer_buffer(start->op.transfer, message);
    message_keep(start, abi_handles.request_null);
    message_turn_await(start->op.transfer, message, buffer, start->function);
    message_turn_advance();
    if (start->native->stage == NATIVE_STARTED && ending_is_at_once(start->native, status, result))
        return REASON_FINISHED_AT_ONCE;
    transfer_launch(start->op.transfer);
    return REASON_NONE;
}

/* The same for a receive that is matched, and starts apart. */
static enum reason message_start_apart(struct start *start)
{
    const struct message *message = start->message;
    enum reason reason = message_move(start);
    if (reason != REASON_NONE)
        return reason;
    message_keep(start, abi_handles.request_null);
    message_turn_await_data(start->op.transfer, message, message_transfer_buffer(start->op.transfer, message));
    transfer_launch(start->op.transfer);
    return REASON_NONE;
}

/* Its memory is held, and it starts now, in its turn, or apart. */
static enum reason message_start_somehow(struct start *start, MPI_Status *status, int *result)
{
    if (start->op.has_turn)
        return message_start_in_turn(start, status, result);
    if (start->message->starts_apart)
        return message_start_apart(start);
    return message_start_held(start, status, result);
}

static void message_cancel(struct transfer *transfer, enum reason reason)
{
    if (reason == REASON_FINISHED_AT_ONCE)
        transfer_cancel_over(transfer);
    else
        transfer_cancel(transfer);
}

/* Not started early. Where MPI has it its bytes are tracked. */
static MPI_Request message_give_up(const struct start *start, enum reason reason)
{
    MPI_Request request = start->native == NULL ? abi_handles.request_null : start->native->request;
    if (start->native != NULL)
        atomic_store_explicit(&start->native->status_number, 0, memory_order_relaxed); /* as in ending_settle() */
    message_cancel(start->op.transfer, reason);
    if (request != abi_handles.request_null)
        requests_track(message_key(start->message), start->message->range);
    return request;
}

/* Inside the gate, the slot taken. `status` as for message_start_held(); the program's is promised before, while its
 * page is certainly not held. */
static enum reason message_start_taken(struct start *start, MPI_Status *status, MPI_Request *request, int *result)
{
    const struct message *message = start->message;
    if (message->promised != NULL)
        start->status_number = status_promise(message->promised, message->peer, message->tag, message->bytes);
    message_describe(start);
    enum reason reason = message_start_somehow(start, status, result);
    if (reason != REASON_NONE)
        *request = message_give_up(start, reason);
    return reason;
}

static struct begin_message message_begin(const struct message *message, message_start_fn *function)
{
    bool is_receive = function == message_start_receive;
    bool is_beside = message->reserved_bytes != 0 && message_is_beside(message);
    return (struct begin_message){
        .bytes = is_beside ? message_held(message) : message->range,
        .is_read = message->direction == POLICY_SEND,
        .is_matched = message->direction == POLICY_RECEIVE && !is_receive,
        .keeps_order = is_receive && (message->order == SESSION_ORDER_KEPT || message->starts_apart),
    };
}

/* What comes before the message, inside the gate. */
static void message_make_way(const struct begin_op *op)
{
    if (op->are_others)
        dispatch_catch_up_beside();
    if (op->are_requests)
        freed_requests_poll();
}

/* It has come already. */
static void message_take_status(struct message *message, const MPI_Status *status, int result)
{
    status_copy(message->promised, status);
    if (result == MPI_SUCCESS)
        message->bytes = status_came_bytes(status, message->bytes);
}

enum reason message_start_early(struct message *message, message_start_fn *function, MPI_Request *request, int *result)
{
    MPI_Status own_status = {0};
    struct start start = {.message = message, .function = function};
    struct begin_message begin = message_begin(message, function);
    *request = abi_handles.request_null;
    *result = MPI_SUCCESS;
    if (message->promised != NULL)
        dispatch_wait_argument(message->promised, sizeof *message->promised);
    enum reason reason = begin_enter(&begin, &start.op);
    if (reason != REASON_NONE)
        return reason;
    message_make_way(&start.op);
    reason = message_start_taken(&start, &own_status, request, result);
    gate_leave();
    if (reason == REASON_FINISHED_AT_ONCE && message->direction == POLICY_RECEIVE)
        message_take_status(message, &own_status, *result);
    bool is_returned = reason == REASON_NONE || reason == REASON_FINISHED_AT_ONCE;
    if (is_returned && *result == MPI_SUCCESS)
        *result = late_errors_take();
    return reason;
}
