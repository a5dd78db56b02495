/* SPDX-License-Identifier: MIT */
/* Buffers that MPI_Bsend copies into (MPI 4.1, 3.6): from its attachment to its
 * detachment MPI may touch one at any time, so nothing beside it shares its pages
 * with a hold. */
#include "base/pages.h"
#include "mpi/dispatch.h"
#include "mpi/entries.h"
#include "op/requests.h"
#include "op/transfer.h"

static void attached_track(int result, const void *buffer, MPI_Count length_bytes)
{
    struct range bytes = base_range_of(buffer, (size_t)length_bytes);
    /* MPI_BUFFER_AUTOMATIC, MPI's own memory, is no address. */
    bool is_memory = bytes.low >= base_page_bytes() && !base_range_is_empty(bytes) && bytes.high != UINTPTR_MAX;
    if (result == MPI_SUCCESS && length_bytes > 0 && is_memory)
        requests_track_region(bytes);
}

/* The result parameter is a pointer to the buffer's address. */
static void attached_untrack(int result, const void *buffer_address)
{
    if (result == MPI_SUCCESS)
        requests_untrack_region((uintptr_t) * (void *const *)buffer_address);
}

int entry_MPI_Buffer_attach(void *buffer, int size)
{
    transfer_wait_due();
    dispatch_enter();
    int result = real.MPI_Buffer_attach(buffer, size);
    attached_track(result, buffer, size);
    return dispatch_leave(result);
}

int entry_MPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    transfer_wait_due();
    dispatch_enter();
    int result = real.MPI_Buffer_attach_c(buffer, size);
    attached_track(result, buffer, size);
    return dispatch_leave(result);
}

int entry_MPI_Buffer_detach(void *buffer_addr, int *size)
{
    transfer_wait_due();
    dispatch_enter();
    int result = real.MPI_Buffer_detach(buffer_addr, size);
    attached_untrack(result, buffer_addr);
    return dispatch_leave(result);
}

int entry_MPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    transfer_wait_due();
    dispatch_enter();
    int result = real.MPI_Buffer_detach_c(buffer_addr, size);
    attached_untrack(result, buffer_addr);
    return dispatch_leave(result);
}
