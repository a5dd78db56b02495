/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include "engine/gate.h"
#include "errors.h"
#include "intercept/libc/threads.h"
#include "intercept/neighbours.h"
#include "intercept/requests.h"
#include "intercept/session.h"
#include "intercept/transfer.h"
#include "intercept/wait.h"
#include "native.h"
#include "poke.h"
#include "types.h"

struct native natives[TRANSFERS_MAX];

/* The generation that this thread noted before it looked at the holds for the
 * call that it is about to enter; 0: the call named no buffer. */
static _Thread_local unsigned noted_generation;

static bool buffer_is_plain(const void *buffer)
{
    return buffer != MPI_IN_PLACE && !gate_is_inside();
}

void dispatch_wait_buffer(const void *buffer, MPI_Count count, MPI_Datatype datatype, enum dispatch_access access)
{
    if (count <= 0 || !buffer_is_plain(buffer))
        return;
    noted_generation = neighbours_generation();
    if (!protect_is_armed())
        return;
    const struct type_layout *layout = types_layout(datatype);
    if (!layout->is_known)
        transfer_wait_all();
    else
        intercept_wait_range(types_span(layout, buffer, count), access == DISPATCH_READS);
}

void dispatch_wait_argument(const void *argument, size_t length_bytes)
{
    noted_generation = neighbours_generation();
    if (protect_is_armed() && (uintptr_t)argument > base_page_bytes() && !gate_is_inside())
        intercept_wait_range(base_range_of(argument, length_bytes), false);
}

void dispatch_wait_others(void)
{
    if (libc_threads_are_several() && !gate_is_open())
        transfer_wait_all();
}

void dispatch_wait_all(void)
{
    noted_generation = neighbours_generation();
    transfer_wait_all();
}

/* Another thread armed a hold between our look and our entry (only possible
 * under MPI_THREAD_MULTIPLE): it may cover a page of our buffer. */
static bool dispatch_was_overtaken(void)
{
    bool is_noted = noted_generation != 0 && gate_is_open() && gate_depth == 1;
    return is_noted && (noted_generation % 2 != 0 || noted_generation != neighbours_generation());
}

void dispatch_enter(void)
{
    gate_enter();
    while (dispatch_was_overtaken()) {
        gate_leave();
        dispatch_wait_all();
        gate_enter();
    }
    noted_generation = 0;
}

int dispatch_leave(int result)
{
    gate_leave();
    return result == MPI_SUCCESS && !gate_is_inside() ? errors_take() : result;
}

void dispatch_track(MPI_Request request, const void *buffer, MPI_Count count, MPI_Datatype datatype)
{
    struct range everything = {1, UINTPTR_MAX};
    if (count <= 0 || request == abi_handles.request_null || buffer == MPI_IN_PLACE)
        return;
    const struct type_layout *layout = types_layout(datatype);
    requests_track((uint64_t)(uintptr_t)request, layout->is_known ? types_span(layout, buffer, count) : everything);
}

void dispatch_track_unknown(MPI_Request request)
{
    struct range everything = {1, UINTPTR_MAX};
    if (request != abi_handles.request_null)
        requests_track((uint64_t)(uintptr_t)request, everything);
}

void dispatch_assist(MPI_Request request, const void *return_address)
{
    if (options.nonblocking && session_reason() == REASON_NONE && request != abi_handles.request_null && poke_prepare())
        requests_assist((uint64_t)(uintptr_t)request, return_address);
}

void dispatch_assist_message(MPI_Request request, MPI_Count count, MPI_Datatype datatype, const void *return_address)
{
    const struct type_layout *layout = types_layout(datatype);
    uint64_t bytes;
    if (count <= 0 || !layout->is_known)
        return;
    bool is_huge = __builtin_mul_overflow((uint64_t)layout->size_bytes, (uint64_t)count, &bytes);
    if (is_huge || bytes >= options.threshold_bytes)
        dispatch_assist(request, return_address);
}

void dispatch_expect_callbacks(void)
{
    session_refuse(REASON_CALLBACK);
    transfer_wait_all();
}

void dispatch_track_for_ever(void)
{
    requests_track_unknown();
}
