/* SPDX-License-Identifier: MIT */
#include "mpi/message/ahead_start.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/options.h"
#include "base/pages.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/strategy.h"
#include "libc/signals.h"
#include "mpi/dispatch.h"
#include "mpi/early.h"
#include "mpi/errors.h"
#include "mpi/native.h"
#include "mpi/progress.h"
#include "mpi/request/ahead.h"
#include "mpi/request/freed.h"
#include "mpi/request_key.h"
#include "mpi/request_status.h"
#include "op/busy.h"
#include "op/call_site.h"
#include "op/judge.h"
#include "op/neighbours.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/wait.h"

/* --- who else writes there? --- */

static bool variable_begins(const char *name, const char *text)
{
    const char *value = getenv(name);
    return value != NULL && strncmp(value, text, strlen(text)) == 0;
}

/* Open MPI's progress thread for TCP receives where the program's own thread has not asked for MPI_THREAD_MULTIPLE,
 * too. */
static bool thread_receives(void)
{
    const char *value = getenv("OMPI_MCA_btl_tcp_progress_thread");
    return value != NULL && strcmp(value, "0") != 0;
}

/* By default the receiver reads: Open MPI's vader and sm, and UCX, prefer to get. btl_*_flags may forbid that. */
static bool peers_put(void)
{
    return variable_begins("UCX_RNDV_SCHEME", "put") || variable_begins("MPI_UCX_RNDV_SCHEME", "put") ||
           getenv("OMPI_MCA_btl_vader_flags") != NULL || getenv("OMPI_MCA_btl_sm_flags") != NULL;
}

/* With XPMEM a peer in the same host may copy a part of the message itself (MPICH: cooperative copying). */
static bool peers_map(void)
{
    return base_launch_local_ranks() != 1 && syscall(SYS_faccessat, AT_FDCWD, "/dev/xpmem", F_OK) == 0;
}

void ahead_start_settle(void)
{
    if (options.receive_waits && (thread_receives() || peers_put() || peers_map()))
        options.receive_waits = false;
}

/* --- may it be held? --- */

/* The engine answers touches: there must be one that looks by itself. */
static bool ahead_is_possible(const struct message *message)
{
    bool is_alone = !busy_is_shared() && !gate_is_inside() && !early.is_on && !libc_signals_have_handlers();
    bool is_plain = !message->has_gaps && message->peer != MPI_PROC_NULL && message->buffer != MPI_BOTTOM;
    return engine_strategy_polls_by_itself() && is_alone && is_plain && options.receives && options.waits &&
           session_reason_to_begin() == REASON_NONE && session_hold_reason() == REASON_NONE;
}

/* Several are waited for together, so that none is cheap beside its own transfer (policy_site_allows()). */
static bool ahead_is_worth_it(struct message *message, const void *return_address)
{
    message->site = policy_site_find(call_site_of(return_address), POLICY_RECEIVE, message->bytes);
    message->situation = policy_site_situation(message->site, message->buffer, message->tag);
    bool is_dear = options.learn && engine_is_dear();
    return !is_dear && policy_site_helps(message->site, message->situation);
}

/* MPI writes there inside its call. */
static bool shares_pages(const struct message *message, const MPI_Request *request)
{
    return base_ranges_overlap(base_pages_of(message->range), base_range_of(request, sizeof *request));
}

/* What must be matched first never outlasts its wait. Not inside the gate (session_order()). */
static bool ahead_must_match(struct message *message)
{
    message->order = judge_order();
    return message_must_match(message);
}

static bool ahead_is_wanted(struct message *message, const MPI_Request *request, const void *return_address)
{
    message->direction = POLICY_RECEIVE;
    message_measure(message);
    return !message_is_small(message) && ahead_is_possible(message) && transfer_ahead_count() < AHEAD_MAX &&
           !shares_pages(message, request) && ahead_is_worth_it(message, return_address) &&
           !ahead_must_match(message) && message_judge_to_hold(message) == REASON_NONE && session_has_engine();
}

/* --- its start --- */

static void ahead_describe(struct transfer *transfer, const struct message *message)
{
    transfer->op.is_schedule = false;
    transfer->direction = POLICY_RECEIVE;
    transfer->bytes = message->bytes;
    transfer->site = message->site;
    transfer->situation = message->situation;
    *native_of(transfer) =
        (struct native){.request = abi_handles.request_null,
                        .ahead = {.source = message->peer, .tag = message->tag, .bytes = message->range}};
}

static enum reason ahead_hold(struct transfer *transfer, const struct message *message)
{
    freed_requests_poll();
    enum reason reason = neighbours_check(message->range, false, false);
    if (reason == REASON_NONE && !transfer_ahead_prepare(transfer, message->range))
        reason = REASON_MEMORY_FAILED;
    if (reason == REASON_NONE)
        reason = transfer_hold(transfer, HOLD_NO_ACCESS, message->range);
    return reason;
}

static int ahead_post(struct transfer *transfer, const struct message *message)
{
    void *buffer = (char *)message->buffer + transfer->holds[0].moved_bytes;
    return message_start_receive(message, buffer, &native_of(transfer)->request);
}

static void ahead_keep(struct transfer *transfer, const struct message *message, const void *return_address)
{
    MPI_Request request = native_of(transfer)->request;
    if (request_status_is_over(request))
        transfer_cancel_over(transfer); /* the message was there already */
    else
        transfer_ahead_begin(transfer, ahead_let_go);
    dispatch_begin_message(request, message->buffer, message->count, message->datatype, return_address);
}

/* Inside the gate. */
static bool ahead_begin(struct transfer *transfer, const struct message *message, const void *return_address,
                        MPI_Request *request, int *result)
{
    if (!progress_prepare() || ahead_hold(transfer, message) != REASON_NONE) {
        transfer_cancel(transfer);
        return false;
    }
    native_of(transfer)->home = errors_home_of(message->comm);
    *result = ahead_post(transfer, message);
    if (*result != MPI_SUCCESS) {
        transfer_cancel(transfer);
        return true;
    }
    *request = native_of(transfer)->request;
    ahead_keep(transfer, message, return_address);
    return true;
}

bool ahead_start(struct message *message, MPI_Request *request, const void *return_address, int *result)
{
    if (!ahead_is_wanted(message, request, return_address))
        return false;
    struct transfer *transfer = transfer_take();
    if (transfer == NULL)
        return false;
    ahead_describe(transfer, message);
    wait_range(message->range, false);
    dispatch_wait_argument(request, sizeof *request);
    dispatch_enter();
    bool is_begun = ahead_begin(transfer, message, return_address, request, result);
    if (is_begun)
        *result = dispatch_leave(*result);
    else
        gate_leave();
    return is_begun;
}

void ahead_start_note_pass(const struct message *message, MPI_Request request)
{
    if (message->site != NULL && request != abi_handles.request_null)
        requests_note_receive(request_key(request), message->site, message->situation);
}
