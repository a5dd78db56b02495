/* SPDX-License-Identifier: MIT */
#include "mpi/request/persistent.h"

#include "mpi/request_key.h"
#include "op/requests.h"
#include "op/transfer.h"

bool persistent_hide(int count, MPI_Request *requests, const uint64_t *keys)
{
    bool are_some = false;
    for (int i = 0; i < count; i++) {
        uint64_t op_id = requests_left_to(keys[i]);
        if (op_id == 0 || !transfer_is_pending(op_id))
            continue;
        requests[i] = abi_handles.request_null;
        are_some = true;
    }
    return are_some;
}

/* MPI itself never makes the handle of a persistent request null. */
void persistent_show(int count, MPI_Request *requests, const uint64_t *keys)
{
    for (int i = 0; i < count; i++) {
        if (requests[i] == abi_handles.request_null && requests_left_to(keys[i]) != 0)
            requests[i] = (MPI_Request)(uintptr_t)keys[i];
    }
}

void persistent_await(int count, const MPI_Request *requests)
{
    if (engine_pending() == 0 || !requests_are_tracked())
        return;
    for (int i = 0; i < count; i++) {
        uint64_t op_id = requests_left_to(request_key(requests[i]));
        if (op_id != 0)
            transfer_wait(op_id);
    }
}
