/* SPDX-License-Identifier: MIT */
/* A tracked request is kept until it is over, and freed then: only so is it known
 * when its bytes are the program's again. */
#include "freed.h"

#include "base/lock.h"
#include "dispatch.h"
#include "intercept/entries.h"
#include "intercept/requests.h"
#include "request_key.h"

/* Beyond FREED_MAX at once MPI gets them as they are, and their bytes stay tracked. */
enum { FREED_MAX = 4096, LOOKS_PER_CALL = 16 };

/* All under `lock`; [0, count) are in use. next: where the next look begins. */
static struct {
    struct base_lock lock;
    uint32_t count;
    uint32_t next;
    MPI_Request requests[FREED_MAX];
} freed;

/* A persistent request that is not active counts as over, a failed one too. */
static bool request_is_over(MPI_Request request)
{
    int is_over = 0;
    return real.MPI_Request_get_status(request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_over;
}

static int request_give_back(MPI_Request *request)
{
    requests_untrack(request_key(*request));
    return real.MPI_Request_free(request);
}

static void freed_look(uint32_t index)
{
    if (!request_is_over(freed.requests[index]))
        return;
    request_give_back(&freed.requests[index]);
    freed.requests[index] = freed.requests[--freed.count];
}

/* A few of them at each call: as many end as begin. */
static void freed_sweep(void)
{
    for (int i = 0; i < LOOKS_PER_CALL && freed.count != 0; i++)
        freed_look(freed.next++ % freed.count);
}

static int freed_take(MPI_Request *request)
{
    if (request_is_over(*request))
        return request_give_back(request);
    if (freed.count == FREED_MAX)
        return real.MPI_Request_free(request);
    freed.requests[freed.count++] = *request;
    *request = abi_handles.request_null;
    return MPI_SUCCESS;
}

int entry_MPI_Request_free(MPI_Request *request)
{
    dispatch_wait_argument(request, sizeof *request);
    dispatch_enter();
    if (!requests_know(request_key(*request)))
        return dispatch_leave(real.MPI_Request_free(request));
    base_lock_take(&freed.lock);
    freed_sweep();
    int result = freed_take(request);
    base_lock_release(&freed.lock);
    return dispatch_leave(result);
}

void freed_requests_give_up(void)
{
    while (freed.count != 0)
        real.MPI_Request_free(&freed.requests[--freed.count]);
}
