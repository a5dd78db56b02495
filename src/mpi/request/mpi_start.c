/* SPDX-License-Identifier: MIT */
/* MPI_Start, MPI_Startall (MPI 4.1, 3.9): a persistent request begins to use its
 * buffer again: what holds it is waited for. */
#include "mpi/dispatch.h"
#include "mpi/entries.h"
#include "op/transfer.h"

static bool start_enter(int count, const MPI_Request *requests)
{
    bool is_direct = busy_is_clear();
    if (is_direct)
        return true;
    transfer_wait_due();
    for (int i = 0; i < count; i++)
        dispatch_wait_request(requests[i]);
    dispatch_enter();
    return false;
}

int entry_MPI_Start(MPI_Request *request)
{
    bool is_direct = start_enter(1, request);
    int result = real.MPI_Start(request);
    if (result == MPI_SUCCESS)
        dispatch_assist(*request, __builtin_return_address(0));
    return is_direct ? result : dispatch_leave(result);
}

int entry_MPI_Startall(int count, MPI_Request array_of_requests[])
{
    bool is_direct = start_enter(count, array_of_requests);
    int result = real.MPI_Startall(count, array_of_requests);
    for (int i = 0; i < count && result == MPI_SUCCESS; i++)
        dispatch_assist(array_of_requests[i], __builtin_return_address(0));
    return is_direct ? result : dispatch_leave(result);
}
