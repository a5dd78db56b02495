/* SPDX-License-Identifier: MIT */
#include "mpi/message/message.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/pages.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "mpi/errors.h"
#include "mpi/request/freed.h"
#include "op/arming.h"
#include "op/away.h"
#include "op/copies.h"
#include "bind/bind.h"
#include "op/call_site.h"
#include "libc/locked.h"
#include "libc/signals.h"
#include "op/neighbours.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/wait.h"
#include "mpi/native.h"
#include "record/record.h"
#include "mpi/status.h"
#include "mpi/datatypes.h"

/* Gaps may be this many times as large as the data: the cost of a hold grows with both. */
enum { SPAN_FACTOR_MAX = 4 };

void message_measure(struct message *message)
{
    const struct type_layout *layout = datatype_layout(message->datatype);
    uint64_t count = message->count > 0 ? (uint64_t)message->count : 0;
    bool is_huge = __builtin_mul_overflow(layout->is_known ? (uint64_t)layout->size_bytes : 0, count, &message->bytes);
    message->is_measured = layout->is_known && !is_huge && message->count >= 0;
    message->has_gaps = datatype_has_gaps(layout, message->count);
    message->range = datatype_span(layout, message->buffer, message->count);
}

bool message_is_whole(const struct message *message)
{
    if (!message->is_measured || message->buffer == MPI_IN_PLACE)
        return false;
    if (!message->has_gaps)
        return true;
    bool is_compact = message->range.high - message->range.low <= SPAN_FACTOR_MAX * message->bytes;
    return is_compact && message->buffer != MPI_BOTTOM && datatype_gaps_are_own(message->datatype);
}

bool message_copy(struct message *message)
{
    struct range bytes = message->range;
    dispatch_wait_buffer(message->buffer, message->count, message->datatype, DISPATCH_READS);
    message->copy = copies_take((const void *)bytes.low, bytes.high - bytes.low);
    if (message->copy == NULL)
        return false;
    message->is_copied = true;
    message->buffer = (void *)((uintptr_t)message->buffer - bytes.low + (uintptr_t)message->copy);
    message->range = base_range_of(message->copy, bytes.high - bytes.low);
    return true;
}

/* Not where another thread in MPI, or a signal handler while the send is being started, could touch the buffer: nobody
 * would be there to answer. */
static bool message_copy_touched(struct message *message)
{
    bool is_possible = protect_copies_touched() && !gate_is_shared() && !libc_signals_have_handlers();
    size_t most_bytes = protect_copied_most(message->range.high - message->range.low);
    if (!is_possible || !copies_reserve(most_bytes))
        return false;
    message->reserved_bytes = most_bytes;
    return true;
}

/* Inside the gate: MPI must not find the pages gone that move, neither for a request of the program that sends them,
 * too, nor for another op. */
static bool message_pages_are_free(const struct message *message)
{
    struct range pages = base_pages_within(message->range);
    return protect_armed_find(pages, false) == 0 && !requests_touch(pages);
}

/* A send that was to move is held where it is. */
static void message_stay(struct message *message)
{
    copies_unreserve(message->reserved_bytes);
    message->reserved_bytes = 0;
}

/* Pages that hold data of MPI's cannot be closed. Short messages are copied as fast as their pages move. */
static enum policy_send message_way_beside_heap(const struct message *message)
{
    enum { MOVE_COST_NS = 20000 };
    return copies_cost_ns(message->bytes) < MOVE_COST_NS ? POLICY_COPY : POLICY_COPY_TOUCHED;
}

void message_choose_way(struct message *message)
{
    enum policy_send way = policy_site_send(message->site);
    if (way == POLICY_HOLD && neighbours_are_heap(message->range))
        way = message_way_beside_heap(message);
    if (way == POLICY_HOLD || (way == POLICY_COPY_TOUCHED && message_copy_touched(message)))
        return;
    (void)message_copy(message);
}

void message_hand_over(struct message *message)
{
    record_count(RECORD_COPIES, message->is_copied);
    record_count(RECORD_COPIES_TOUCHED, message->reserved_bytes != 0);
    message->copy = NULL;
    message->reserved_bytes = 0;
}

void message_give_back(struct message *message)
{
    copies_give_back(message->copy); /* NULL is fine */
    message->copy = NULL;
    message_stay(message);
}

static bool message_is_switched_off(const struct message *message)
{
    return message->direction == POLICY_SEND ? !options.sends : !options.receives;
}

static enum reason message_judge_arguments(const struct message *message)
{
    if (message_is_small(message))
        return REASON_SMALL;
    if (message_is_switched_off(message))
        return REASON_SWITCHED_OFF;
    if (message->peer == MPI_PROC_NULL)
        return REASON_PROCESS_NULL;
    return message_is_whole(message) ? REASON_NONE : REASON_DATATYPE;
}

/* What memory it is matters to a send even where nothing is held: it may be copied
 * (not from a device, to whose memory only its own library has access). */
static enum reason message_judge_memory(const struct message *message)
{
    enum reason held = session_look_for_devices();
    if (held != REASON_NONE && message->direction == POLICY_RECEIVE)
        return held;
    enum reason memory = protect_memory_check(message->range);
    if (memory == REASON_NONE && libc_locked_touches(base_pages_of(message->range)))
        memory = REASON_MEMORY_LOCKED;
    return memory != REASON_NONE ? memory : held;
}

static bool message_is_allowed(struct message *message, const void *return_address)
{
    message->site = policy_site_find(call_site_of(return_address), message->direction, message->bytes);
    away_end(message->site);
    message->situation = policy_site_situation(message->site, message->buffer, message->tag);
    bool is_allowed = policy_site_allows(message->site, message->situation);
    if (!is_allowed)
        away_note_pass(message->site, message->situation);
    return is_allowed;
}

enum reason message_judge(struct message *message, const void *return_address)
{
    enum reason reason = message_judge_arguments(message);
    if (reason == REASON_NONE)
        reason = session_reason_to_begin();
    if (reason != REASON_NONE)
        return reason;
    if (!message_is_allowed(message, return_address))
        return REASON_LEARNED;
    bind_adjust_objects(); /* a library loaded since may be about to reach MPI past us */
    if (session_reason() != REASON_NONE)
        return session_reason();
    return message->is_copied ? REASON_NONE : message_judge_memory(message);
}

bool message_must_match(const struct message *message, const MPI_Status *status)
{
    bool is_asked = !status_is_ignored(status);
    if (message->comm == abi_handles.comm_null)
        return false; /* MPI says itself what is wrong, of the receive and not of a probe */
    if (message->peer == MPI_ANY_SOURCE || session_matches_first())
        return true;
    return is_asked && (message->tag == MPI_ANY_TAG || !status_can_promise());
}

/* A count beyond an int only comes from a large-count entry: this MPI has the others, too. */
static bool message_is_int(const struct message *message)
{
    return message->count <= INT32_MAX;
}

int message_start_send(const struct message *m, void *buffer, MPI_Request *request)
{
    if (message_is_int(m))
        return real.MPI_Isend(buffer, (int)m->count, m->datatype, m->peer, m->tag, m->comm, request);
    return real.MPI_Isend_c(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request);
}

int message_start_ready_send(const struct message *m, void *buffer, MPI_Request *request)
{
    if (message_is_int(m))
        return real.MPI_Irsend(buffer, (int)m->count, m->datatype, m->peer, m->tag, m->comm, request);
    return real.MPI_Irsend_c(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request);
}

int message_start_synchronous_send(const struct message *m, void *buffer, MPI_Request *request)
{
    if (message_is_int(m))
        return real.MPI_Issend(buffer, (int)m->count, m->datatype, m->peer, m->tag, m->comm, request);
    return real.MPI_Issend_c(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request);
}

int message_start_receive(const struct message *m, void *buffer, MPI_Request *request)
{
    if (message_is_int(m))
        return real.MPI_Irecv(buffer, (int)m->count, m->datatype, m->peer, m->tag, m->comm, request);
    return real.MPI_Irecv_c(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request);
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
    int result = errors_test_and_raise(&native->home, &native->request, &is_over, &status);
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

/* A type to send may name bytes twice (MPI 4.1, 5.1.11: only a receive may not) and
 * leave out as many: it is as large as its extent, and yet MPI may be receiving into
 * a gap. No predefined type is that long. */
static bool message_may_hide_gaps(const struct message *message)
{
    enum { PREDEFINED_BYTES_MAX = 32 };
    return message->direction == POLICY_SEND && datatype_layout(message->datatype)->size_bytes > PREDEFINED_BYTES_MAX;
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

static enum reason message_check_neighbours(const struct message *message)
{
    struct range held = message_held(message);
    enum reason reason = neighbours_check(held, message->has_gaps);
    if (reason != REASON_NONE || !message_may_hide_gaps(message))
        return reason;
    return neighbours_check_operations(held, true);
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
    arming_begin();
    enum reason reason = message_check_neighbours(message);
    if (reason == REASON_NONE)
        reason = transfer_hold(transfer, kind, message->range);
    arming_end();
    return reason;
}

static void message_describe(struct transfer *transfer, const struct message *message)
{
    transfer->op.test = message_test;
    transfer->direction = message->direction;
    transfer->bytes = message->bytes;
    transfer->site = message->site;
    transfer->situation = message->situation;
    if (message->is_copied)
        transfer->hold_cost_ns = copies_cost_ns(message->bytes);
    native_of(transfer)->request = abi_handles.request_null;
    native_of(transfer)->status_number = 0;
    native_of(transfer)->copy = message->copy;
    native_of(transfer)->reserved_bytes = 0;
}

/* Over already: an eager send, or a message that had arrived before. */
static bool message_is_over(struct transfer *transfer, MPI_Status *status, int *result)
{
    int is_over = 0;
    struct native *native = native_of(transfer);
    *result = errors_test_and_raise(&native->home, &native->request, &is_over, status);
    return is_over || *result != MPI_SUCCESS;
}

/* Where MPI finds the message: its pages may have moved. */
static void *message_transfer_buffer(const struct transfer *transfer, const struct message *message)
{
    if (!message_moves(message))
        return message->buffer;
    uintptr_t moved = (uintptr_t)protect_hold_transfer_address(transfer->hold);
    return (void *)((uintptr_t)message->buffer - message->range.low + moved);
}

/* Holds what is to move. A send that cannot is held where it is: nothing has happened yet. */
static enum reason message_move(struct transfer *transfer, struct message *message)
{
    freed_requests_poll();
    if (message->direction == POLICY_RECEIVE)
        return message_hold(transfer, message);
    if (message_moves(message) && (!message_pages_are_free(message) || message_hold(transfer, message) != REASON_NONE))
        message_stay(message);
    transfer->way = message_moves(message) ? POLICY_COPY_TOUCHED : POLICY_HOLD;
    native_of(transfer)->reserved_bytes = message->reserved_bytes;
    return REASON_NONE;
}

/* Inside the gate, the memory not yet held. What moves is held before MPI hears of the
 * address. Another send is posted before: registration by an RDMA library then sees plain
 * memory. `status` is ours: the program's may lie on a page that is held by now. */
static enum reason message_start_held(struct transfer *transfer, struct message *message, message_start_fn *start,
                                      MPI_Status *status, int *result)
{
    native_of(transfer)->home = errors_home_of(message->comm);
    enum reason reason = message_move(transfer, message);
    bool is_held_later = !message_moves(message) && !message->is_copied;
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

/* The program's status while its page is certainly not held: before the hold. */
static void message_promise(struct transfer *transfer, const struct message *message, MPI_Status *status)
{
    if (!status_is_ignored(status))
        native_of(transfer)->status_number = status_promise(status, message->peer, message->tag, message->bytes);
}

static uint64_t message_key(const struct message *message)
{
    return (uint64_t)(uintptr_t)message; /* no request has the address of our frame */
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
    dispatch_enter();
    enum reason reason = message_start_held(transfer, message, start, &own_status, result);
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

int message_start_inline(const struct message *message, message_start_fn *start, MPI_Request *request)
{
    bool is_read = message->direction == POLICY_SEND;
    dispatch_wait_buffer(message->buffer, message->count, message->datatype,
                         is_read ? DISPATCH_READS : DISPATCH_WRITES);
    dispatch_enter();
    int result = start(message, message->buffer, request);
    if (result == MPI_SUCCESS)
        requests_track(message_key(message), message->range);
    gate_leave(); /* a late error is taken at the end: this message must be waited for first */
    return result;
}

/* MPICH's MPI_Irecv from nobody leaves source and tag 0 (seen with 4.0); its
 * MPI_Recv gives the empty status (MPI 4.1, 3.10). */
static int message_receive_nothing(const struct message *message, MPI_Status *status)
{
    dispatch_enter();
    int result = real.MPI_Recv(NULL, 0, abi_handles.byte, MPI_PROC_NULL, message->tag, message->comm, status);
    gate_leave();
    return result;
}

struct message_poll {
    struct errors_home home;
    MPI_Request *request;
    MPI_Status *status;
};

static int message_poll(void *argument, int *is_over)
{
    struct message_poll *look = argument;
    return errors_test_and_raise(&look->home, look->request, is_over, look->status);
}

static struct errors_home message_home(const struct message *message)
{
    gate_enter();
    struct errors_home home = errors_home_of(message->comm);
    gate_leave();
    return home;
}

int message_finish(const struct message *message, MPI_Request *request, MPI_Status *status)
{
    int result = dispatch_block(message_poll, &(struct message_poll){message_home(message), request, status});
    requests_untrack(message_key(message));
    bool is_from_nobody = message->direction == POLICY_RECEIVE && message->peer == MPI_PROC_NULL;
    return result == MPI_SUCCESS && is_from_nobody ? message_receive_nothing(message, status) : result;
}

int message_carry_inline(const struct message *message, message_start_fn *start, MPI_Status *status)
{
    MPI_Request request;
    int result = message_start_inline(message, start, &request);
    return result == MPI_SUCCESS ? errors_or(message_finish(message, &request, status)) : result;
}
