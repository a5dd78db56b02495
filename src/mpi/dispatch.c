/* SPDX-License-Identifier: MIT */
#include "mpi/dispatch.h"

#include "base/pages.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "libc/signals.h"
#include "libc/threads.h"
#include "op/busy.h"
#include "op/idle.h"
#include "op/late_errors.h"
#include "op/noted.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/stall.h"
#include "op/transfer.h"
#include "op/untracked.h"
#include "op/wait.h"
#include "mpi/progress.h"
#include "mpi/request_key.h"
#include "mpi/datatypes.h"
#include "mpi/early.h"

struct dispatch_unstarted dispatch_unstarted[DISPATCH_UNSTARTED_KINDS];

static bool buffer_is_plain(const void *buffer)
{
    return buffer != MPI_IN_PLACE && !gate_is_inside();
}

void dispatch_wait_range(struct range bytes, bool is_read)
{
    noted_add(bytes, is_read);
    wait_range(bytes, is_read);
}

void dispatch_wait_unknown(void)
{
    noted_add_unknown();
    noted_wait_any_memory();
}

void dispatch_wait_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype, enum dispatch_access access)
{
    if (count <= 0 || !buffer_is_plain(buffer) || datatype == abi_handles.datatype_null)
        return; /* no memory: of the last MPI says itself what is wrong */
    if (!protect_armed_is_any() && !busy_is_shared())
        return;
    const struct type_layout *layout = datatype_layout(datatype);
    if (layout->is_known)
        dispatch_wait_range(datatype_span(layout, buffer, count), access == DISPATCH_READS);
    else
        dispatch_wait_unknown();
}

void dispatch_wait_argument(const void *argument, size_t length_bytes)
{
    bool may_be_held = protect_armed_is_any() || busy_is_shared(); /* first: most calls end here */
    if (may_be_held && (uintptr_t)argument > base_page_bytes() && !gate_is_inside())
        dispatch_wait_range(base_range_of(argument, length_bytes), false);
}

void dispatch_wait_others(void)
{
    bool is_awaited = (libc_threads_are_several() && !busy_is_shared()) || libc_signals_have_handlers();
    if (is_awaited)
        transfer_wait_due();
}

/* Of a request whose memory is not known nothing more is waited for: another thread's message may only come when it is
 * over. */
void dispatch_wait_request(MPI_Request request)
{
    struct range bytes = requests_range(request_key(request));
    bool is_known = !base_range_is_empty(bytes) && bytes.high != UINTPTR_MAX;
    transfer_wait_due();
    if (busy_is_shared() && is_known)
        dispatch_wait_range(bytes, false);
}

void dispatch_enter(void)
{
    transfer_wait_unmatched();
    dispatch_enter_in_turn();
}

void dispatch_enter_in_turn(void)
{
    if (gate_enter())
        noted_catch_up();
    dispatch_catch_up();
}

/* Early receives look at what each call brings. */
bool dispatch_enter_idle(void)
{
    bool is_inside = busy_is_shared() && !early.is_on && idle_enter();
    if (is_inside)
        noted_forget();
    return is_inside;
}

int dispatch_leave_idle(int result)
{
    if (!idle_is_still())
        return dispatch_leave(result);
    gate_leave();
    return result;
}

/* relaxed: the gate has brought it along, or the program's own order of its calls. Not in a function that MPI has
 * called: who called MPI has started them, and may be starting some right now. */
static void dispatch_start(enum dispatch_unstarted_kind kind)
{
    struct dispatch_unstarted *unstarted = &dispatch_unstarted[kind];
    if (gate_thread.depth != 1 || atomic_load_explicit(&unstarted->count, memory_order_relaxed) == 0)
        return;
    unstarted->start_all();
    engine_note_begun();
}

void dispatch_catch_up_beside(void)
{
    /* Requests that we complete ourselves: the engine may be idle, or be refused by now. */
    if (early_is_claimed() && gate_thread.depth == 1)
        early_advance();
    dispatch_start(DISPATCH_PIECES);
}

void dispatch_catch_up(void)
{
    dispatch_catch_up_beside();
    dispatch_start(DISPATCH_RECEIVES);
}

int dispatch_leave(int result)
{
    if (transfer_parted_count() != 0 && gate_thread.depth == 1)
        transfer_settle_parted(); /* the call may have told that their data are there */
    gate_leave();
    return result;
}

int dispatch_leave_and_tell(int result)
{
    result = dispatch_leave(result);
    return gate_is_inside() ? result : late_errors_or(result);
}

void dispatch_track(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype)
{
    struct range everything = {1, UINTPTR_MAX};
    struct range nothing = {0, 0};
    const struct type_layout *layout = datatype_layout(datatype);
    bool is_empty = count <= 0 || buffer == MPI_IN_PLACE;
    if (request == abi_handles.request_null)
        return;
    requests_track(request_key(request), is_empty           ? nothing
                                         : layout->is_known ? datatype_span(layout, buffer, count)
                                                            : everything);
}

void dispatch_track_unknown(MPI_Request request)
{
    struct range everything = {1, UINTPTR_MAX};
    if (request != abi_handles.request_null)
        requests_track(request_key(request), everything);
}

void dispatch_track_file(MPI_Request request)
{
    dispatch_track_unknown(request);
    if (request != abi_handles.request_null)
        requests_note_kind(request_key(request), REQUESTS_FILE);
}

static void dispatch_assist_bytes(MPI_Request request, uint64_t bytes, const void *return_address)
{
    bool is_possible = options.nonblocking && session_reason_to_begin() == REASON_NONE;
    if (is_possible && request != abi_handles.request_null && progress_prepare())
        requests_assist(request_key(request), bytes, return_address);
}

void dispatch_assist(MPI_Request request, const void *return_address)
{
    dispatch_assist_bytes(request, 0, return_address);
}

void dispatch_assist_blocks(MPI_Request request, MPI_Count count, MPI_Datatype datatype, const void *return_address)
{
    dispatch_assist_bytes(request, datatype_bytes(datatype_layout(datatype), count), return_address);
}

static bool dispatch_is_below(uint64_t threshold_bytes, MPI_Count count, const struct type_layout *layout)
{
    return count <= 0 || (layout->is_known && datatype_bytes(layout, count) < threshold_bytes);
}

void dispatch_begin_message(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                            const void *return_address)
{
    const struct type_layout *layout = datatype_layout(datatype);
    bool is_small = dispatch_is_below(options.progress_threshold_bytes, count, layout);
    bool is_counted = is_small && dispatch_is_below(options.threshold_bytes, count, layout);
    if (is_small)
        datatype_learn_small(layout);
    if (request == abi_handles.request_null || (is_counted && requests_begin_small()))
        return;
    dispatch_track(request, buffer, count, datatype);
    if (!is_small)
        dispatch_assist(request, return_address);
}

/* A send may outlast its wait if its type names its bytes in order, one after the other: the message is its range. */
static void dispatch_note_send(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                               struct requests_send send)
{
    const struct type_layout *layout = datatype_layout(datatype);
    bool is_small = dispatch_is_below(options.threshold_bytes, count, layout);
    bool is_plain = layout->is_known && buffer != MPI_BOTTOM && !datatype_has_gaps(layout, count);
    if (is_small || request == abi_handles.request_null)
        return;
    send.may_outlast &= options.waits && is_plain;
    send.may_hide_gaps = !is_plain || datatype_may_hide_gaps(layout);
    requests_note_send(request_key(request), send);
}

void dispatch_begin_send(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                         bool may_outlast, const void *return_address)
{
    dispatch_begin_message(request, buffer, count, datatype, return_address);
    dispatch_note_send(request, buffer, count, datatype, (struct requests_send){.may_outlast = may_outlast});
}

void dispatch_track_send(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype,
                         bool may_outlast)
{
    struct requests_send send = {.may_outlast = may_outlast, .is_persistent = true};
    dispatch_track(request, buffer, count, datatype);
    dispatch_note_send(request, buffer, count, datatype, send);
}

void dispatch_forget_send(const MPI_Request *request)
{
    if (requests_are_tracked() && request != NULL)
        requests_forget_send(request_key(*request));
}

void dispatch_begin_unknown(void)
{
    requests_track_unknown();
}

int dispatch_end_unknown(int result)
{
    if (result == MPI_SUCCESS && requests_are_unknown())
        requests_untrack_unknown();
    return result;
}

int dispatch_block(dispatch_poll_fn *poll, void *argument)
{
    int is_over = 0;
    int result = MPI_SUCCESS;
    uint32_t wait = stall_wait_begin();
    for (uint32_t round = 0; !is_over && result == MPI_SUCCESS; round++) {
        dispatch_enter();
        result = poll(argument, &is_over);
        gate_leave();
        if (!is_over && result == MPI_SUCCESS)
            transfer_poll_round(round);
    }
    stall_wait_end(wait);
    return result;
}
