/* SPDX-License-Identifier: MIT */
#include "mpi/ending.h"

#include "mpi/errors.h"
#include "mpi/status.h"
#include "op/late_errors.h"

/* Is the request over? What became of its start, or its error. */
static int ending_poll(struct native *native, int *is_over, MPI_Status *status)
{
    if (native->start_result != MPI_SUCCESS)
        return native->start_result;
    return errors_test_and_raise(&native->home, &native->request, is_over, status);
}

bool ending_settle(struct transfer *transfer)
{
    struct native *native = native_of(transfer);
    MPI_Status status = {0};
    int is_over = 0;
    int result = ending_poll(native, &is_over, &status);
    if (result != MPI_SUCCESS)
        late_errors_keep(result);
    else if (!is_over)
        return false;
    uint32_t number = atomic_load_explicit(&native->status_number, memory_order_relaxed);
    if (number != 0)
        status_settle(number, transfer->bytes, &status);
    if (transfer->direction == POLICY_RECEIVE && result == MPI_SUCCESS)
        transfer->bytes = status_came_bytes(&status, transfer->bytes);
    /* The slot's next op may promise nothing. release: pairs with status_pending_op(). */
    atomic_store_explicit(&native->status_number, 0, memory_order_release);
    return true;
}

bool ending_is_at_once(struct native *native, MPI_Status *status, int *result)
{
    int is_over = 0;
    if (*result == MPI_SUCCESS)
        *result = ending_poll(native, &is_over, status);
    if (!is_over && *result == MPI_SUCCESS)
        return false;
    native->request = abi_handles.request_null;
    return true;
}
