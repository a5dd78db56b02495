/* SPDX-License-Identifier: MIT */
/* What MPI tells of a request without completing it. Inside the gate. */
#ifndef MPI_REQUEST_STATUS_H
#define MPI_REQUEST_STATUS_H

#include <stdbool.h>

#include "abi.h"
#include "mpi/errors.h"
#include "mpi/real.h"

/* One that has failed counts as over, too: the call that completes it hears of that from MPI. So does one that is not
 * active, or null. Between errors_mute() and errors_unmute(), which may be around several. */
static inline bool request_status_is_over_muted(MPI_Request request)
{
    int is_over = 0;
    if (request == abi_handles.request_null)
        return true;
    return real.MPI_Request_get_status(request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_over;
}

/* The same for one. Nobody else hears of its error: the program has not asked. */
static inline bool request_status_is_over(MPI_Request request)
{
    if (request == abi_handles.request_null)
        return true;
    struct errors_muted muted = errors_mute();
    bool is_over = request_status_is_over_muted(request);
    errors_unmute(&muted);
    return is_over;
}

#endif
