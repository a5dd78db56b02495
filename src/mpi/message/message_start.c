/* SPDX-License-Identifier: MIT */
/* How messages start of which calls return early (message.h), and how they end. */
#include <stddef.h>

#include "base/pages.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "mpi/errors.h"
#include "mpi/request/freed.h"
#include "mpi/message/message.h"
#include "mpi/message/message_turn.h"
#include "op/arming.h"
#include "op/copies.h"
#include "op/neighbours.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/wait.h"
#include "mpi/native.h"
#include "record/record.h"
#include "mpi/status.h"
#include "mpi/datatypes.h"

/* What became of its start, and whether it is over. */
static int message_look(struct native *native, int *is_over, MPI_Status *status)
{
    if (native->start_result != MPI_SUCCESS)
        return native->start_result;
    return errors_test_and_raise(&native->home, &native->request, is_over, status);
}

/* The engine's question. Frees the slot before it returns true. */
static bool message_test(struct engine_pending_op *op)
{
    struct transfer *transfer = (struct transfer *)op;
    struct native *native = native_of(transfer);
    void *copy = native->copy;
    size_t reserved_bytes = native->reserved_bytes;
    MPI_Status status = {0};
    int is_over = 0;
    if (native->awaits_turn)
        message_turn_advance();
    if (native->awaits_turn)
        return false;
    int result = message_look(native, &is_over, &status);
    if (result != MPI_SUCCESS)
        errors_keep(result);
    else if (!is_over)
        return false;
    if (native->status_number != 0)
        status_settle(native->status_number, transfer->bytes, &status);
    transfer_end(transfer);
    copies_give_back(copy);
    copies_unreserve(reserved_bytes);
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

static enum reason message_hold(struct transfer *transfer, struct message *message)
{
    enum hold_kind kind = message_hold_kind(message);
    struct range held = message_held(message);
    bool may_hide_gaps = message_may_hide_gaps(message);
    arming_begin();
    enum reason reason = neighbours_check(held, message->has_gaps, may_hide_gaps);
    if (reason == REASON_NONE)
        reason = transfer_hold(transfer, kind, message->range);
    arming_end();
    return reason;
}

static void message_describe(struct transfer *transfer, const struct message *message)
{
    transfer->op.test = message_test;
    transfer->op.is_schedule = false;
    transfer->direction = message->direction;
    transfer->bytes = message->bytes;
    transfer->site = message->site;
    transfer->situation = message->situation;
    if (message->is_copied)
        transfer->hold_cost_ns = copies_cost_ns(message->bytes);
    *native_of(transfer) = (struct native){.request = abi_handles.request_null, .copy = message->copy};
}

/* Over already: an eager send, or a message that had arrived before. */
static bool message_is_over(struct transfer *transfer, MPI_Status *status, int *result)
{
    int is_over = 0;
    *result = message_look(native_of(transfer), &is_over, status);
    return is_over || *result != MPI_SUCCESS;
}

/* Where MPI finds the message: its pages may have moved. */
static void *message_transfer_buffer(const struct transfer *transfer, const struct message *message)
{
    if (!message_moves(message))
        return message->buffer;
    uintptr_t moved = (uintptr_t)protect_hold_transfer_address(transfer->holds[0]);
    return (void *)((uintptr_t)message->buffer - message->range.low + moved);
}

/* Holds what is to move. A send that cannot is held where it is: nothing has happened yet. */
static enum reason message_move(struct transfer *transfer, struct message *message)
{
    freed_requests_poll();
    if (message->direction == POLICY_RECEIVE)
        return message_hold(transfer, message);
    if (message_moves(message) &&
        (!message_pages_are_free(base_pages_within(message->range)) || message_hold(transfer, message) != REASON_NONE))
        message_stay(message);
    transfer->way = message_moves(message) ? POLICY_COPY_TOUCHED : POLICY_HOLD;
    native_of(transfer)->reserved_bytes = message->reserved_bytes;
    return REASON_NONE;
}

static bool message_is_held_in_place(const struct message *message)
{
    return !message_moves(message) && !message->is_copied;
}

/* Inside the gate, the memory not yet held. What moves is held before MPI hears of the
 * address. Another send is posted before: registration by an RDMA library then sees plain
 * memory. `status` is ours: the program's may lie on a page that is held by now. */
static enum reason message_start_held(struct transfer *transfer, struct message *message, message_start_fn *start,
                                      MPI_Status *status, int *result)
{
    enum reason reason = message_move(transfer, message);
    bool is_held_later = message_is_held_in_place(message);
    if (reason != REASON_NONE)
        return reason;
    *result = start(message, message_transfer_buffer(transfer, message), &native_of(transfer)->request);
    if (*result != MPI_SUCCESS || message_is_over(transfer, status, result)) {
        native_of(transfer)->request = abi_handles.request_null;
        return REASON_FINISHED_AT_ONCE;
    }
    if (is_held_later)
        reason = message_hold(transfer, message);
    if (reason == REASON_NONE)
        transfer_launch(transfer);
    return reason;
}

/* The same for one that starts in its turn, which may be now. All memory is held before. */
static enum reason message_start_in_turn(struct transfer *transfer, struct message *message, message_start_fn *start,
                                         MPI_Status *status, int *result)
{
    *result = message_check(message, message->direction);
    if (*result != MPI_SUCCESS)
        return REASON_FINISHED_AT_ONCE;
    enum reason reason = message_move(transfer, message);
    if (reason == REASON_NONE && message_is_held_in_place(message))
        reason = message_hold(transfer, message);
    if (reason != REASON_NONE)
        return reason;
    message_turn_await(transfer, message, message_transfer_buffer(transfer, message), start);
    message_turn_advance();
    if (!native_of(transfer)->awaits_turn && message_is_over(transfer, status, result)) {
        native_of(transfer)->request = abi_handles.request_null;
        return REASON_FINISHED_AT_ONCE;
    }
    transfer_launch(transfer);
    return REASON_NONE;
}

/* What waits for its turn has been begun by one thread. What has been matched before waits for nothing more once it
 * begins: to receive it lets a synchronous send end. */
static void message_wait_for_turn(const struct message *message, message_start_fn *start)
{
    if (message->direction == POLICY_RECEIVE && start != message_start_receive)
        transfer_wait_unmatched();
    transfer_wait_unmatched_of_others();
}

/* Not inside the gate: the answer may need the loader's lock, whose owner may wait at a touch for the engine. */
static bool message_keeps_order(message_start_fn *start)
{
    return start == message_start_receive && session_keeps_order();
}

/* The program's status while its page is certainly not held: before the hold. */
static void message_promise(struct transfer *transfer, const struct message *message, MPI_Status *status)
{
    if (!status_is_ignored(status))
        native_of(transfer)->status_number = status_promise(status, message->peer, message->tag, message->bytes);
}

static void message_cancel(struct transfer *transfer, enum reason reason)
{
    if (reason == REASON_FINISHED_AT_ONCE)
        transfer_cancel_over(transfer);
    else
        transfer_cancel(transfer);
}

enum reason message_start_early(struct message *message, message_start_fn *start, MPI_Status *status,
                                MPI_Request *request, int *result)
{
    MPI_Status own_status;
    *request = abi_handles.request_null;
    *result = MPI_SUCCESS;
    if (!session_has_engine())
        return REASON_NO_ENGINE;
    struct transfer *transfer = transfer_take();
    if (transfer == NULL)
        return REASON_TOO_MANY_OPS;
    message_describe(transfer, message);
    dispatch_wait_argument(status, sizeof *status);
    message_promise(transfer, message, status);
    wait_range(message->range, message->direction == POLICY_SEND);
    message_wait_for_turn(message, start);
    bool keeps_order = message_keeps_order(start);
    dispatch_enter_in_turn();
    native_of(transfer)->home = errors_home_of(message->comm);
    bool has_turn = keeps_order || message_turn_is_awaited();
    enum reason reason = has_turn ? message_start_in_turn(transfer, message, start, &own_status, result)
                                  : message_start_held(transfer, message, start, &own_status, result);
    if (reason != REASON_NONE) {
        *request = native_of(transfer)->request;
        message_cancel(transfer, reason);
        if (*request != abi_handles.request_null)
            requests_track(message_key(message), message->range);
    }
    gate_leave();
    if (reason == REASON_FINISHED_AT_ONCE && message->direction == POLICY_RECEIVE)
        status_copy(status, &own_status);
    bool is_returned = reason == REASON_NONE || reason == REASON_FINISHED_AT_ONCE;
    if (is_returned && *result == MPI_SUCCESS)
        *result = errors_take();
    return reason;
}
