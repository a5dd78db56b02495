/* SPDX-License-Identifier: MIT */
#include "mpi/request/ahead.h"

#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "mpi/ending.h"
#include "mpi/native.h"
#include "mpi/request/leaving.h"
#include "mpi/request_key.h"
#include "mpi/request_status.h"
#include "mpi/status.h"
#include "op/judge.h"
#include "op/late_errors.h"
#include "op/requests.h"
#include "record/record.h"

/* --- until it is waited for --- */

/* Its data are there. Inside the gate. */
static void ahead_end(struct transfer *transfer)
{
    bool is_parted = transfer->is_parted;
    bool has_moved = transfer->holds[0].moved_bytes != 0;
    if (is_parted && has_moved)
        protect_hold_join(native_of(transfer)->ahead.bytes);
    transfer_unhold(transfer); /* first: once nothing is busy, calls go straight to MPI, which has no rights to it */
    transfer_ahead_end(transfer);
    if (is_parted)
        transfer_cancel(transfer);
    else
        transfer_cancel_over(transfer);
}

/* A call that may have completed the request knows more of it than MPI would say now, and ends it itself. */
void ahead_let_go(struct transfer *transfer)
{
    const struct native *native = native_of(transfer);
    if (!native->ahead.is_in_call && request_status_is_over(native->request))
        ahead_end(transfer);
    else if (!transfer->is_parted && transfer_part(transfer))
        record_count(RECORD_PARTED, 1);
}

static int ahead_index_of(MPI_Request request, int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        if (requests[i] == request)
            return i;
    }
    return -1;
}

static void ahead_enter_one(struct ahead_call *call, struct transfer *transfer, int count, const MPI_Request *requests)
{
    struct native *native = native_of(transfer);
    bool is_forgotten = native->request == abi_handles.request_null;
    int index = is_forgotten ? -1 : ahead_index_of(native->request, count, requests);
    if (index < 0 || call->count == AHEAD_MAX)
        return;
    native->ahead.is_in_call = true;
    call->all[call->count++] = (struct ahead_one){transfer, index, abi_handles.request_null};
}

void ahead_enter(struct ahead_call *call, int count, const MPI_Request *requests)
{
    call->count = 0;
    if (transfer_ahead_count() == 0 || requests == NULL)
        return;
    gate_enter();
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;)
        ahead_enter_one(call, one, count, requests);
    gate_leave();
}

void ahead_leave(struct ahead_call *call, const MPI_Request *requests)
{
    if (call->count == 0)
        return;
    gate_enter();
    for (int i = 0; i < call->count; i++) {
        struct transfer *transfer = call->all[i].transfer;
        if (transfer == NULL)
            continue;
        native_of(transfer)->ahead.is_in_call = false;
        if (requests[call->all[i].index] == abi_handles.request_null)
            ahead_end(transfer);
    }
    gate_leave();
}

/* NULL: it is none of these. Inside the gate. */
static struct transfer *ahead_find(MPI_Request request)
{
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;) {
        if (request != abi_handles.request_null && native_of(one)->request == request)
            return one;
    }
    return NULL;
}

bool ahead_knows(MPI_Request request)
{
    return ahead_find(request) != NULL;
}

void ahead_end_freed(MPI_Request request)
{
    struct transfer *transfer = ahead_find(request);
    if (transfer != NULL)
        ahead_end(transfer);
}

/* The handle may be another request's from now on. */
void ahead_forget(MPI_Request request)
{
    struct transfer *transfer = ahead_find(request);
    if (transfer == NULL)
        return;
    native_of(transfer)->request = abi_handles.request_null;
    native_of(transfer)->ahead.is_in_call = true;
}

/* What is still to come stays in transit, where MPI may write until its end. */
static void ahead_finish_one(struct transfer *transfer)
{
    MPI_Request request = native_of(transfer)->request;
    if (request != abi_handles.request_null && request_status_is_over(request)) {
        ahead_end(transfer);
        return;
    }
    transfer_ahead_end(transfer);
    transfer_cancel(transfer);
}

void ahead_finish(void)
{
    gate_enter();
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;)
        ahead_finish_one(one);
    gate_leave();
}

/* --- a wait that may return early --- */

static bool ahead_is_possible(const struct sent_op_wait *wait)
{
    return leaving_may_look(wait) && leaving_is_possible() && judge_order() != SESSION_ORDER_MATCHED;
}

static bool ahead_may_outlast(const struct ahead_one *one, const struct sent_op_wait *wait)
{
    bool is_ignored = status_is_ignored(wait->statuses);
    bool is_known = native_of(one->transfer)->ahead.tag != MPI_ANY_TAG && status_can_promise();
    return !one->transfer->is_parted && (is_ignored || is_known);
}

struct ahead_poll {
    struct ahead_call *call;
    struct sent_op_wait *wait;
    bool leaves_sends; /* they are not waited for */
    bool keeps_order;
    int next;         /* all requests before it are over, or are not looked at here */
    int64_t until_ns; /* how long those that are held have, once all else is over */
};

static bool poll_leaves_out(void *argument, int index)
{
    const struct ahead_poll *poll = argument;
    struct requests_send send;
    for (int i = 0; i < poll->call->count; i++) {
        if (poll->call->all[i].index == index)
            return true; /* held_may_stay() */
    }
    return poll->leaves_sends && requests_find_send(poll->wait->keys[index], &send);
}

static bool others_are_over(struct ahead_poll *poll)
{
    return leaving_others_are_over(poll->wait, &poll->next, poll_leaves_out, poll);
}

/* Any of them may be parted from one poll to the next. */
static bool held_may_stay(const struct ahead_poll *poll)
{
    for (int i = 0; i < poll->call->count; i++) {
        const struct ahead_one *one = &poll->call->all[i];
        if (!ahead_may_outlast(one, poll->wait) && !request_status_is_over(poll->wait->requests[one->index]))
            return false;
    }
    return true;
}

static bool held_are_over(const struct ahead_poll *poll)
{
    for (int i = 0; i < poll->call->count; i++) {
        if (!request_status_is_over(poll->wait->requests[poll->call->all[i].index]))
            return false;
    }
    return true;
}

static int ahead_poll(void *argument, int *is_over)
{
    struct ahead_poll *poll = argument;
    if (poll->until_ns == 0 && !(others_are_over(poll) && held_may_stay(poll)))
        return MPI_SUCCESS;
    *is_over = leaving_grace_is_over(&poll->until_ns) || held_are_over(poll);
    return MPI_SUCCESS;
}

/* Where nothing is learnt an op is made of it in any case: tests rely on it. */
static void ahead_hide_one(struct ahead_one *one, struct sent_op_wait *wait)
{
    MPI_Request *request = &wait->requests[one->index];
    if (!ahead_may_outlast(one, wait) || (options.learn && request_status_is_over(*request)))
        return;
    one->request = *request;
    *request = abi_handles.request_null;
    wait->keys[one->index] = request_key(abi_handles.request_null);
}

/* Inside the gate. */
static void ahead_hide_all(struct ahead_call *call, struct sent_op_wait *wait)
{
    for (int i = 0; i < call->count; i++)
        ahead_hide_one(&call->all[i], wait);
}

void ahead_hide(struct ahead_call *call, struct sent_op_wait *wait)
{
    if (call->count == 0 || !ahead_is_possible(wait))
        return;
    dispatch_block(ahead_poll, &(struct ahead_poll){.call = call, .wait = wait, .leaves_sends = true});
    dispatch_enter();
    ahead_hide_all(call, wait);
    gate_leave();
}

/* The engine's question. */
static bool ahead_test(struct engine_pending_op *op)
{
    struct transfer *transfer = (struct transfer *)op;
    struct native *native = native_of(transfer);
    if (!ending_settle(transfer))
        return false;
    if (native->ahead.is_unmatched)
        transfer_unmatched_remove();
    transfer_end(transfer);
    return true;
}

/* Inside the gate. MPI does not tell whether a request has been matched: until it is over nothing follows that others
 * could see, where that matters. */
static void ahead_launch(struct transfer *transfer, bool keeps_order)
{
    struct native *native = native_of(transfer);
    transfer->op.test = ahead_test;
    native->ahead.is_unmatched = keeps_order;
    if (keeps_order)
        transfer_unmatched_add();
    record_count(RECORD_WAITS_RECEIVE, 1);
    transfer_launch(transfer);
    transfer_ahead_end(transfer);
}

static void ahead_promise(struct transfer *transfer, MPI_Status *status)
{
    struct native *native = native_of(transfer);
    uint32_t number = status_promise(status, native->ahead.source, native->ahead.tag, transfer->bytes);
    atomic_store_explicit(&native->status_number, number, memory_order_relaxed); /* its own thread asks for it next */
}

static void ahead_take_one(struct ahead_one *one, struct sent_op_wait *wait, bool keeps_order, uint32_t count)
{
    if (one->request == abi_handles.request_null)
        return;
    one->transfer->beside = count - 1;
    if (!status_is_ignored(wait->statuses))
        ahead_promise(one->transfer, &wait->statuses[one->index]);
    requests_untrack(request_key(one->request));
    ahead_launch(one->transfer, keeps_order);
    one->transfer = NULL;
}

static uint32_t ahead_count_hidden(const struct ahead_call *call)
{
    uint32_t count = 0;
    for (int i = 0; i < call->count; i++)
        count += call->all[i].request != abi_handles.request_null;
    return count;
}

static void ahead_take_all(const struct ahead_poll *poll)
{
    uint32_t count = ahead_count_hidden(poll->call);
    for (int i = 0; i < poll->call->count; i++)
        ahead_take_one(&poll->call->all[i], poll->wait, poll->keeps_order, count);
}

/* Of these nothing is known but that they are not over (MPI 4.1, 3.7.5). */
static void ahead_show_one(struct ahead_one *one, struct sent_op_wait *wait, int result)
{
    if (one->request == abi_handles.request_null)
        return;
    wait->requests[one->index] = one->request;
    wait->keys[one->index] = request_key(one->request);
    one->request = abi_handles.request_null;
    if (result == MPI_ERR_IN_STATUS && !status_is_ignored(wait->statuses))
        wait->statuses[one->index].MPI_ERROR = MPI_ERR_PENDING;
}

static void ahead_show_all(struct ahead_call *call, struct sent_op_wait *wait, int result)
{
    for (int i = 0; i < call->count; i++)
        ahead_show_one(&call->all[i], wait, result);
}

/* One visit to the gate from the look whether they are still held to their launch: nobody parts them meanwhile. MPI
 * only tests, since another thread may wait for the gate. */
static int ahead_take_poll(void *argument, int *is_over)
{
    struct ahead_poll *poll = argument;
    if (!others_are_over(poll) || !held_may_stay(poll))
        return MPI_SUCCESS;
    ahead_hide_all(poll->call, poll->wait);
    int result = poll->wait->poll(poll->wait->argument, is_over);
    if (result == MPI_SUCCESS && *is_over)
        ahead_take_all(poll);
    else
        ahead_show_all(poll->call, poll->wait, result);
    return result;
}

bool ahead_take(struct ahead_call *call, struct sent_op_wait *wait, int *result)
{
    ahead_show_all(call, wait, MPI_SUCCESS);
    if (call->count == 0 || !ahead_is_possible(wait))
        return false;
    struct ahead_poll poll = {.call = call, .wait = wait, .keeps_order = session_order() == SESSION_ORDER_KEPT};
    *result = late_errors_or(dispatch_block(ahead_take_poll, &poll));
    return true;
}
