/* SPDX-License-Identifier: MIT */
#include "mpi/request/completion.h"

#include <stdlib.h>

#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "op/assist.h"
#include "op/late_errors.h"
#include "op/requests.h"
#include "op/transfer.h"
#include "op/untracked.h"
#include "mpi/request_key.h"
#include "mpi/request/ahead.h"
#include "mpi/request/freed.h"
#include "mpi/request/persistent.h"
#include "mpi/request/sent.h"
#include "mpi/status.h"
#include "mpi/early.h"

static void completion_note(struct completion *completion)
{
    for (int i = 0; i < completion->count; i++)
        completion->keys[i] = request_key(completion->requests[i]);
    if (engine_pending() != 0)
        completion->has_hidden = persistent_hide(completion->count, completion->requests, completion->keys);
}

/* No memory to remember what ends now. */
static void completion_note_nothing(const struct completion *completion)
{
    persistent_await(completion->count, completion->requests);
    requests_track_unknown();
}

static void completion_wait_arguments(const struct completion *completion)
{
    size_t count = completion->count > 0 ? (size_t)completion->count : 0;
    dispatch_wait_argument(completion->requests, count * sizeof *completion->requests);
    dispatch_wait_argument(completion->out_count, sizeof *completion->out_count);
    dispatch_wait_argument(completion->indices, count * sizeof *completion->indices);
    if (!status_is_ignored(completion->statuses))
        dispatch_wait_argument(completion->statuses, count * sizeof *completion->statuses);
}

/* Waits for ops that hold a page of the arguments; notes the handles, where any request is
 * tracked or counted. */
static void completion_begin(struct completion *completion)
{
    completion->keys = NULL;
    completion_wait_arguments(completion);
    bool is_of_interest = requests_are_tracked() || untracked_are_some();
    if (!is_of_interest || completion->count <= 0)
        return;
    assist_note_wait();
    completion->keys = completion->inline_keys;
    if (completion->count > COMPLETION_KEYS_INLINE)
        completion->keys = malloc((size_t)completion->count * sizeof *completion->keys);
    if (completion->keys != NULL)
        completion_note(completion);
    else
        completion_note_nothing(completion);
}

/* A handle that is still there belongs to a request that goes on (not over, or
 * persistent). True: some are over. */
static bool completion_untrack(const struct completion *completion)
{
    uint64_t null_key = request_key(abi_handles.request_null);
    bool are_some = false;
    for (int i = 0; i < completion->count; i++) {
        if (completion->keys[i] == null_key || completion->requests[i] != abi_handles.request_null)
            continue;
        requests_untrack(completion->keys[i]);
        are_some = true;
    }
    return are_some;
}

static void completion_settle_one(const struct completion *completion, int index)
{
    if (index >= 0 && index < completion->count && completion->requests[index] != abi_handles.request_null)
        requests_settle(completion->keys[index]);
}

/* Persistent requests keep their handles. Without an array of indices all are
 * over, or none (*flag); with one, those that it names. True: some are. */
static bool completion_settle(const struct completion *completion)
{
    int over = completion->out_count != NULL ? *completion->out_count : 1;
    bool has_indices = completion->indices != NULL;
    for (int i = 0; i < (has_indices ? over : completion->count) && over > 0; i++)
        completion_settle_one(completion, has_indices ? completion->indices[i] : i);
    return over > 0;
}

/* Untracks, or counts down, the requests that were active and are null now, and notes which
 * persistent ones are over. `result`: what the call returns. */
static void completion_end(struct completion *completion, int result)
{
    if (completion->keys == NULL)
        return;
    bool are_over = result == MPI_SUCCESS && completion_settle(completion);
    if (completion->has_hidden)
        persistent_show(completion->count, completion->requests, completion->keys);
    are_over |= completion_untrack(completion);
    if (are_over)
        freed_requests_await();
    if (completion->keys != completion->inline_keys)
        free(completion->keys);
}

void completion_uncount_named(int named, const int *indices, int count, const MPI_Request *requests)
{
    for (int i = 0; i < named; i++) {
        if (indices[i] >= 0 && indices[i] < count && requests[indices[i]] == abi_handles.request_null)
            untracked_add(-1);
    }
}

bool completion_must_loop(void)
{
    bool are_some = engine_pending() != 0 || transfer_ahead_count() != 0 || early_is_claimed();
    return are_some && !gate_is_inside();
}

int completion_test_one(struct completion *completion, int *is_over)
{
    return real.MPI_Test(completion->requests, is_over, completion->statuses);
}

struct completion_poll {
    struct completion *completion;
    completion_test_fn *test;
};

static int completion_poll(void *argument, int *is_over)
{
    const struct completion_poll *poll = argument;
    return poll->test(poll->completion, is_over);
}

/* Repeats `test` until it is over or fails. Takes no late error. */
static int completion_wait(struct completion *completion, completion_test_fn *test)
{
    return dispatch_block(completion_poll, &(struct completion_poll){completion, test});
}

static int completion_call(struct completion *completion, completion_call_fn *call)
{
    dispatch_enter();
    return dispatch_leave_and_tell(call(completion));
}

static int completion_run(struct completion *completion, completion_call_fn *call, completion_test_fn *test)
{
    bool must_loop = test != NULL && completion_must_loop();
    return must_loop ? late_errors_or(completion_wait(completion, test)) : completion_call(completion, call);
}

/* A wait that may leave sends, and receives, to ops. */
static int completion_run_waiting(struct completion *completion, struct ahead_call *ahead, completion_call_fn *call,
                                  completion_test_fn *test)
{
    int result = MPI_SUCCESS;
    bool is_over = false;
    struct completion_poll poll = {completion, test};
    struct sent_op_wait wait = {.count = completion->count,
                                .requests = completion->requests,
                                .statuses = completion->statuses,
                                .keys = completion->keys,
                                .return_address = completion->waited_from,
                                .out_count = completion->out_count,
                                .indices = completion->indices,
                                .poll = completion_poll,
                                .argument = &poll};
    if (completion->indices == NULL) {
        ahead_hide(ahead, &wait);
        sent_defer(&wait);
        is_over = ahead_take(ahead, &wait, &result);
    } else {
        is_over = sent_defer_some(&wait, &result);
    }
    completion->has_hidden |= wait.has_persistent;
    if (!is_over)
        result = completion_run(completion, call, test);
    sent_learn(&wait);
    return result;
}

/* Nothing is pending, so no memory is waited for; none of the requests is tracked, so they are only counted down. */
static int completion_call_idle(struct completion *completion, completion_call_fn *call)
{
    int before = completion_count(completion->count, completion->requests);
    int result = call(completion);
    int over = before - completion_count(completion->count, completion->requests);
    if (over != 0)
        untracked_add(-over);
    result = dispatch_leave_idle(result);
    if (over != 0)
        freed_requests_await();
    return result;
}

int completion_carry(struct completion *completion, completion_call_fn *call, completion_test_fn *test)
{
    struct ahead_call ahead;
    if (!requests_are_tracked() && dispatch_enter_idle())
        return completion_call_idle(completion, call);
    completion_begin(completion);
    ahead_enter(&ahead, completion->count, completion->requests);
    bool may_defer = options.waits && completion->waited_from != NULL && completion->keys != NULL;
    int result =
        may_defer ? completion_run_waiting(completion, &ahead, call, test) : completion_run(completion, call, test);
    ahead_leave(&ahead, completion->requests);
    completion_end(completion, result);
    return result;
}
