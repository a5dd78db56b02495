/* SPDX-License-Identifier: MIT */
#include "mpi/message/message.h"

#include <stddef.h>

#include "base/options.h"
#include "base/pages.h"
#include "mpi/dispatch.h"
#include "mpi/early.h"
#include "mpi/errors.h"
#include "engine/gate.h"
#include "op/busy.h"
#include "op/copies.h"
#include "op/call_site.h"
#include "libc/sharing.h"
#include "libc/signals.h"
#include "op/judge.h"
#include "op/late_errors.h"
#include "op/observer.h"
#include "op/requests.h"
#include "op/session.h"
#include "protect/beside.h"
#include "protect/protect.h"
#include "protect/touched.h"
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

static bool message_may_have_gaps(const struct message *message)
{
    return message->has_gaps || message->is_list || datatype_may_hide_gaps(datatype_layout(message->datatype));
}

/* What MPI reads the program can read. */
static bool message_is_readable(const struct message *message)
{
    return !message_may_have_gaps(message) ||
           (!protect_may_hide_guards() && protect_memory_check(message->range) == REASON_NONE);
}

/* MPI does not read the gaps, and a guard page may lie there. The kernel, which finds out, copies more slowly. */
static void *message_copy_range(const struct message *message)
{
    const void *bytes = (const void *)message->range.low;
    size_t length_bytes = message->range.high - message->range.low;
    return message_is_readable(message) ? copies_take(bytes, length_bytes) : copies_take_readable(bytes, length_bytes);
}

bool message_is_beside(const struct message *message)
{
    return message->direction == POLICY_SEND && !message_may_have_gaps(message) && protect_beside_is(message->range);
}

/* A receive beside it, on the same page, need not be waited for. */
static void *message_copy_apart(const struct message *message)
{
    struct range bytes = message->range;
    void *copy = NULL;
    if (message_is_beside(message))
        copy = copies_take_beside((const void *)bytes.low, bytes.high - bytes.low);
    if (copy != NULL)
        return copy;
    dispatch_wait_buffer(message->buffer, message->count, message->datatype, DISPATCH_READS);
    return message_copy_range(message);
}

bool message_copy(struct message *message)
{
    struct range bytes = message->range;
    message->copy = message_copy_apart(message);
    if (message->copy == NULL)
        return false;
    message->is_copied = true;
    message->buffer = (void *)((uintptr_t)message->buffer - bytes.low + (uintptr_t)message->copy);
    message->range = base_range_of(message->copy, bytes.high - bytes.low);
    return true;
}

/* Not where another thread in MPI, or a signal handler while the send is being started, could touch the buffer: nobody
 * would be there to answer. And only whole pages move, which MPI gets for nothing else. */
bool message_copy_touched(struct message *message)
{
    struct range pages = base_pages_within(message->range);
    bool is_possible = !base_range_is_empty(pages) && protect_copies_touched() && !busy_is_shared() &&
                       !libc_signals_have_handlers() && !libc_sharing_is_heap(pages);
    size_t most_bytes = touched_most(message->range.high - message->range.low);
    if (!is_possible || !copies_reserve(most_bytes))
        return false;
    message->reserved_bytes = most_bytes;
    return true;
}

bool message_pages_are_free(struct range pages)
{
    return protect_armed_find(pages, false) == 0 && !requests_touch(pages);
}

void message_stay(struct message *message)
{
    copies_unreserve(message->reserved_bytes);
    message->reserved_bytes = 0;
}

/* Pages that hold data of MPI's cannot be closed, nor those of a receive read where they were. Short messages are
 * copied as fast as their pages move. */
static enum policy_send message_way_beside(const struct message *message)
{
    enum { MOVE_COST_NS = 20000 };
    return copies_cost_ns(message->bytes) < MOVE_COST_NS ? POLICY_COPY : POLICY_COPY_TOUCHED;
}

void message_choose_way(struct message *message)
{
    enum policy_send way = policy_site_send(message->site);
    if (way == POLICY_HOLD && (libc_sharing_is_heap(message->range) || message_is_beside(message)))
        way = message_way_beside(message);
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

bool message_is_known_small(MPI_Count count, MPI_Datatype datatype, uint64_t *bytes)
{
    const struct type_layout *layout = datatype_entry(datatype);
    if (!datatype_is_cached(layout, datatype) || !layout->is_known || count < 0)
        return false;
    bool is_huge = __builtin_mul_overflow((uint64_t)layout->size_bytes, (uint64_t)count, bytes);
    return !is_huge && *bytes < options.threshold_bytes;
}

/* Pictures are told of each message. */
bool message_enter_small(MPI_Count count, MPI_Datatype datatype)
{
    uint64_t bytes;
    if (!message_is_known_small(count, datatype, &bytes) || observer_draws() || !dispatch_enter_idle())
        return false;
    record_pass(REASON_SMALL, bytes);
    return true;
}

static bool message_is_switched_off(const struct message *message)
{
    return message->direction == POLICY_SEND ? !options.sends : !options.receives;
}

static enum reason message_judge_arguments(const struct message *message)
{
    if (message_is_small(message))
        return message_pass_small(message);
    if (message_is_switched_off(message))
        return REASON_SWITCHED_OFF;
    if (message->peer == MPI_PROC_NULL)
        return REASON_PROCESS_NULL;
    return message_is_whole(message) ? REASON_NONE : REASON_DATATYPE;
}

static enum reason message_judge_call(struct message *message)
{
    if (gate_is_inside())
        return REASON_CALLBACK;
    struct judge_answer answer;
    struct policy_call call = {
        .place = message->caller,
        .direction = message->direction,
        .bytes = message->bytes,
        .buffer = message->buffer,
        .tag = message->tag,
    };
    enum reason reason = judge_message(&call, message->is_copied ? NULL : &message->range, &answer);
    message->site = answer.policy.site;
    message->situation = answer.policy.situation;
    message->order = answer.order;
    message->starts_apart = answer.starts_apart && !early.is_on; /* what is received early has been asked for */
    return reason;
}

void message_note_pass(const struct message *message, enum reason reason)
{
    record_pass(reason, message->bytes);
    if (observer_draws())
        observer.op_passed(call_site_of(message->caller), message->direction, reason, message->bytes);
}

void message_note_came(const struct message *message, enum reason reason, const MPI_Status *status)
{
    uint64_t came_bytes = status_came_bytes(status, message->bytes);
    record_passes(reason, 0, came_bytes - message->bytes); /* modulo 2^64: less than was noted */
}

enum reason message_judge(struct message *message, const void *return_address)
{
    message->caller = return_address;
    enum reason reason = message_judge_arguments(message);
    return reason != REASON_NONE ? reason : message_judge_call(message);
}

enum reason message_judge_to_hold(const struct message *message)
{
    if (message_is_small(message))
        return REASON_SMALL;
    if (!message_is_whole(message))
        return REASON_DATATYPE;
    enum reason reason = judge_session();
    return reason != REASON_NONE ? reason : judge_memory(message->range, message->direction == POLICY_SEND);
}

bool message_must_match(const struct message *message)
{
    if (message->comm == abi_handles.comm_null)
        return false; /* MPI says itself what is wrong, of the receive and not of a probe */
    if (message->peer == MPI_ANY_SOURCE || message->order == SESSION_ORDER_MATCHED)
        return true;
    return message->promised != NULL && (message->tag == MPI_ANY_TAG || !status_can_promise());
}

static int message_init_send(const struct message *m, MPI_Request *request)
{
    return real_sized_MPI_Send_init(m->buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request,
                                    message_is_huge(m));
}

static int message_init_receive(const struct message *m, MPI_Request *request)
{
    return real_sized_MPI_Recv_init(m->buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request,
                                    message_is_huge(m));
}

int message_check(const struct message *message, enum policy_direction direction)
{
    MPI_Request request;
    bool is_send = direction == POLICY_SEND;
    int result = is_send ? message_init_send(message, &request) : message_init_receive(message, &request);
    if (result == MPI_SUCCESS)
        real.MPI_Request_free(&request);
    return result;
}

int message_start_send(const struct message *m, void *buffer, MPI_Request *request)
{
    return real_sized_MPI_Isend(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request, message_is_huge(m));
}

int message_start_ready_send(const struct message *m, void *buffer, MPI_Request *request)
{
    return real_sized_MPI_Irsend(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request, message_is_huge(m));
}

int message_start_synchronous_send(const struct message *m, void *buffer, MPI_Request *request)
{
    return real_sized_MPI_Issend(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request, message_is_huge(m));
}

int message_start_receive(const struct message *m, void *buffer, MPI_Request *request)
{
    return real_sized_MPI_Irecv(buffer, m->count, m->datatype, m->peer, m->tag, m->comm, request, message_is_huge(m));
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
    struct message_poll *poll = argument;
    return errors_test_and_raise(&poll->home, poll->request, is_over, poll->status);
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
    return result == MPI_SUCCESS ? late_errors_or(message_finish(message, &request, status)) : result;
}
