/* SPDX-License-Identifier: MIT */
#include "mpi/request/persistent.h"

#include "base/text.h"
#include "mpi/real.h"
#include "mpi/request_key.h"
#include "op/requests.h"
#include "op/transfer.h"

/* With MPICH 5 and Intel MPI 2021 a persistent request that MPI_Request_get_status has found over is not active any
 * more, against MPI 4.1, 3.7.6: what completes it then says nothing of it. Others may be like them. */
static bool library_loses_requests(void)
{
    static const char *const keeping[] = {"Open MPI", "MPICH Version:\t4.0"};
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    real.MPI_Get_library_version(version, &length);
    return !base_text_begins_any(version, keeping, sizeof keeping / sizeof keeping[0]);
}

static void note_lost(MPI_Request request, bool has_status)
{
    if (library_loses_requests())
        requests_note_lost(request_key(request), has_status);
}

void persistent_note(MPI_Request request, bool is_send)
{
    if (request == abi_handles.request_null)
        return;
    requests_note_kind(request_key(request), REQUESTS_PERSISTENT);
    note_lost(request, !is_send);
}

void persistent_note_collective(MPI_Request request)
{
    if (request != abi_handles.request_null)
        note_lost(request, true);
}

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
