/* SPDX-License-Identifier: MIT */
/* Each half returns early or not by its own judgement; a half that does not is
 * waited for here. */
#include "mpi/message/exchange.h"

#include "base/pages.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "op/away.h"
#include "op/late_errors.h"
#include "op/observer.h"
#include "op/transfer.h"
#include "record/record.h"
#include "mpi/message/matched.h"
#include "mpi/request/freed.h"
#include "mpi/status.h"
#include "mpi/early.h"

/* One half under way: what is left to wait for. reason: why it is. */
struct half {
    const struct message *message;
    enum reason reason;
    MPI_Request request;
    int result;
};

static struct half half_start(struct message *message, enum reason reason, message_start_fn *start)
{
    struct half half = {.message = message, .request = abi_handles.request_null, .result = MPI_SUCCESS};
    if (reason == REASON_NONE)
        reason = message_start_early(message, start, &half.request, &half.result);
    if (reason == REASON_NONE) {
        message_hand_over(message);
        return half;
    }
    message_note_pass(message, reason);
    half.reason = reason;
    if (reason == REASON_FINISHED_AT_ONCE || half.request != abi_handles.request_null)
        return half;
    half.result = message_start_inline(message, start, &half.request);
    return half;
}

static int half_finish(struct half *half, MPI_Status *status)
{
    if (half->result != MPI_SUCCESS || half->request == abi_handles.request_null)
        return half->result;
    return message_finish(half->message, &half->request, status);
}

static bool exchange_shares_pages(const struct exchange *exchange)
{
    return base_ranges_overlap(base_pages_of(exchange->receive.range), base_pages_of(exchange->send.range));
}

static int exchange_check_half(const struct message *message, enum policy_direction direction)
{
    dispatch_enter_in_turn();
    int result = message_check(message, direction);
    gate_leave();
    return result;
}

int exchange_check_receive(const struct message *receive)
{
    return exchange_check_half(receive, POLICY_RECEIVE);
}

/* MPI looks at the arguments of both messages before it starts one. So do we:
 * after that each half goes its way, whatever becomes of the other. */
static int exchange_check(const struct exchange *exchange)
{
    int result = exchange_check_receive(&exchange->receive);
    return result == MPI_SUCCESS ? exchange_check_half(&exchange->send, POLICY_SEND) : result;
}

/* The send first: MPI announces it then before the receive lets the peer's data, and
 * so its own, onto the way (Open MPI asks for a message that is there as soon as
 * the receive begins). Not so where the receive would have to wait for the send,
 * whose page it lies on: the peer may do the same. */
static int exchange_split(struct exchange *exchange, enum reason send_reason, enum reason receive_reason)
{
    MPI_Status own_status = {0};
    struct half out = {.result = MPI_SUCCESS};
    bool is_send_first = !exchange_shares_pages(exchange);
    dispatch_wait_argument(exchange->status, sizeof *exchange->status);
    if (is_send_first)
        out = half_start(&exchange->send, send_reason, message_start_send);
    struct half in = half_start(&exchange->receive, receive_reason, message_start_receive);
    /* Also after a receive that failed: a truncated message may have been there already. */
    if (!is_send_first)
        out = half_start(&exchange->send, send_reason, message_start_send);
    bool is_inline = in.request != abi_handles.request_null;
    int in_result = half_finish(&in, &own_status);
    int out_result = half_finish(&out, MPI_STATUS_IGNORE);
    if (is_inline)
        status_copy(exchange->status, &own_status);
    if (is_inline && in_result == MPI_SUCCESS)
        message_note_came(in.message, in.reason, &own_status);
    return late_errors_or(in_result != MPI_SUCCESS ? in_result : out_result);
}

/* The program wants to know at once what arrived: the send first, since the
 * receive waits for its match. */
static int exchange_match(struct exchange *exchange, enum reason send_reason)
{
    struct half out = half_start(&exchange->send, send_reason, message_start_send);
    int result = matched_receive(&exchange->receive, exchange->status);
    int out_result = half_finish(&out, MPI_STATUS_IGNORE);
    return result != MPI_SUCCESS ? result : out_result;
}

/* What comes after the send has begun would wait for it, and the peer perhaps for
 * our receive: a status on a page of its buffer, a receive of unknown layout (it
 * waits for all ops). */
static bool exchange_would_wait_for_send(const struct exchange *exchange)
{
    struct range status = base_pages_of(base_range_of(exchange->status, sizeof *exchange->status));
    bool is_written = !status_is_ignored(exchange->status);
    bool is_shared = is_written && base_ranges_overlap(status, base_pages_of(exchange->send.range));
    return is_shared || !exchange->receive.is_measured;
}

static enum reason exchange_judge_send(struct exchange *exchange, const void *return_address)
{
    enum reason reason = message_judge(&exchange->send, return_address);
    if (reason == REASON_OTHER_THREAD && message_copy(&exchange->send))
        reason = REASON_NONE;
    bool is_hindered = !exchange->send.is_copied && exchange_would_wait_for_send(exchange);
    return reason == REASON_NONE && is_hindered ? REASON_OVERLAPPING_BUFFERS : reason;
}

/* MPI would read the send buffer from a page that nobody may touch: neighbouring rows of an array, one to send and one
 * to receive, mostly share one. A send that may return early goes from a copy then. */
static enum reason exchange_part(struct exchange *exchange, enum reason send_reason)
{
    bool is_parted = send_reason == REASON_NONE && message_copy(&exchange->send);
    return is_parted ? REASON_NONE : REASON_OVERLAPPING_BUFFERS;
}

static enum reason exchange_judge_receive(struct exchange *exchange, enum reason send_reason,
                                          const void *return_address)
{
    enum reason reason = message_judge(&exchange->receive, return_address);
    bool is_shared = exchange_shares_pages(exchange) && !exchange->send.is_copied;
    return reason == REASON_NONE && is_shared ? exchange_part(exchange, send_reason) : reason;
}

static int exchange_carry(struct exchange *exchange, enum reason send_reason, enum reason receive_reason)
{
    bool must_match = receive_reason == REASON_NONE && message_must_match(&exchange->receive);
    int result = exchange_check(exchange);
    if (send_reason == REASON_NONE && !exchange->send.is_copied && !exchange_shares_pages(exchange))
        message_choose_way(&exchange->send);
    if (result == MPI_SUCCESS && must_match)
        result = exchange_match(exchange, send_reason);
    else if (result == MPI_SUCCESS)
        result = exchange_split(exchange, send_reason, receive_reason);
    message_give_back(&exchange->send);
    return result;
}

static void exchange_prepare_pass(struct exchange *exchange, enum reason send_reason, enum reason receive_reason)
{
    const struct message *send = &exchange->send;
    const struct message *receive = &exchange->receive;
    message_note_pass(send, send_reason);
    message_note_pass(receive, receive_reason);
    dispatch_wait_argument(exchange->status, sizeof *exchange->status);
    dispatch_wait_buffer(send->buffer, send->count, send->datatype, DISPATCH_READS);
    dispatch_wait_buffer(receive->buffer, receive->count, receive->datatype, DISPATCH_WRITES);
}

/* What is sent from where others will arrive goes from a copy, as MPI itself does.
 * Halves that cannot be told apart wait for all ops, so that the call may keep the gate. */
static bool exchange_can_split(struct exchange *exchange)
{
    struct message *send = &exchange->send;
    bool is_ready = !send->is_copied || send->copy != NULL;
    if (is_ready || (send->is_measured && send->bytes == 0))
        return true;
    if (message_is_whole(send) && message_copy(send))
        return true;
    transfer_wait_due();
    return false;
}

static bool exchange_is_wanted(enum reason send_reason, enum reason receive_reason)
{
    /* Passed whole while other ops are pending, or memory is held, it would keep the gate. */
    bool are_some = engine_pending() != 0 || transfer_ahead_count() != 0;
    bool would_block = are_some && !gate_is_inside();
    return send_reason == REASON_NONE || receive_reason == REASON_NONE || would_block;
}

/* The message to receive has been received early: then the send needs no copy, since nobody writes to its
 * buffer before it is over, and waits for nothing that this receive would bring about. */
static bool exchange_take(struct exchange *exchange, int *result)
{
    if (!early_awaits(&exchange->receive))
        return false;
    *result = exchange_check(exchange);
    if (*result != MPI_SUCCESS)
        return true;
    int out_result = message_carry_inline(&exchange->send, message_start_send, MPI_STATUS_IGNORE);
    early_receive(&exchange->receive, exchange->status, result);
    if (*result == MPI_SUCCESS)
        *result = out_result;
    return true;
}

int exchange_end(const struct exchange *exchange, int result)
{
    early_resume(&exchange->receive, result);
    freed_requests_await();
    away_begin();
    return result;
}

bool exchange_enters_small(const struct exchange *exchange)
{
    uint64_t sent_bytes;
    uint64_t received_bytes;
    bool is_small = busy_is_shared() && !observer_draws() &&
                    message_is_known_small(exchange->send.count, exchange->send.datatype, &sent_bytes) &&
                    message_is_known_small(exchange->receive.count, exchange->receive.datatype, &received_bytes);
    if (!is_small || !dispatch_enter_idle())
        return false;
    record_pass(REASON_SMALL, sent_bytes);
    record_pass(REASON_SMALL, received_bytes);
    return true;
}

bool exchange_try(struct exchange *exchange, const void *return_address, int *result)
{
    early_pause();
    struct message *send = &exchange->send;
    struct message *receive = &exchange->receive;
    send->direction = POLICY_SEND;
    receive->direction = POLICY_RECEIVE;
    send->is_copied = exchange->is_replacing && send->peer != MPI_PROC_NULL && receive->peer != MPI_PROC_NULL;
    if (exchange->is_replacing && send->peer == MPI_PROC_NULL)
        send->count = 0; /* nothing is read where the receive goes */
    message_measure(send);
    message_measure(receive);
    receive->promised = status_is_ignored(exchange->status) ? NULL : exchange->status;
    if (exchange_take(exchange, result))
        return true;
    enum reason send_reason = exchange_judge_send(exchange, return_address);
    enum reason receive_reason = exchange_judge_receive(exchange, send_reason, return_address);
    if (exchange_is_wanted(send_reason, receive_reason) && exchange_can_split(exchange)) {
        *result = exchange_carry(exchange, send_reason, receive_reason);
        return true;
    }
    exchange_prepare_pass(exchange, send_reason, receive_reason);
    return false;
}
