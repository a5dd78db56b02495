/* SPDX-License-Identifier: MIT */
/* A request that is tracked, or counted (untracked.h), is kept until it is over, and freed then: only so is it known
 * when its bytes are the program's again. */
#include "mpi/request/freed.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/lock.h"
#include "mpi/dispatch.h"
#include "mpi/entries.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/untracked.h"
#include "mpi/request/ahead.h"
#include "mpi/request/persistent.h"
#include "mpi/request_key.h"
#include "mpi/request_status.h"

enum { FREED_FIRST = 512, SWEEP_FIRST = 64, LOOKS_PER_CALL = 16 };

/* All under `lock`, but for a look whether there are any; [0, count) are in use, of `room`. next: where the next look
 * begins. sweep_at: so many are kept before all are looked at. */
static struct {
    struct base_lock lock;
    _Atomic uint32_t count;
    uint32_t room;
    uint32_t next;
    uint32_t sweep_at;
    MPI_Request *requests;
} freed;

static int request_give_back(MPI_Request *request)
{
    requests_untrack(request_key(*request));
    ahead_end_freed(*request);
    return real.MPI_Request_free(request);
}

static uint32_t freed_count(void)
{
    return atomic_load_explicit(&freed.count, memory_order_relaxed); /* a look, or under the lock */
}

static void freed_count_set(uint32_t count)
{
    atomic_store_explicit(&freed.count, count, memory_order_relaxed);
}

static void freed_poll(uint32_t index)
{
    if (!request_status_is_over(freed.requests[index]))
        return;
    request_give_back(&freed.requests[index]);
    freed_count_set(freed_count() - 1);
    freed.requests[index] = freed.requests[freed_count()];
}

static void freed_sweep(uint32_t looks)
{
    for (uint32_t i = 0; i < looks && freed_count() != 0; i++)
        freed_poll(freed.next++ % freed_count());
}

/* Each look makes MPI progress: seldom, and all of them then. */
static void freed_sweep_when_many(void)
{
    if (freed_count() < freed.sweep_at)
        return;
    freed_sweep(freed_count());
    freed.sweep_at = SWEEP_FIRST + 2 * freed_count();
}

/* The smaller tables are left where they are: together they are no larger than the last. */
static bool freed_grow(void)
{
    enum { PROTECTION = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
    uint32_t room = freed.room == 0 ? FREED_FIRST : 2 * freed.room;
    MPI_Request *more = mmap(NULL, room * sizeof *more, PROTECTION, FLAGS, -1, 0);
    if (more == MAP_FAILED)
        return false;
    if (freed.room != 0)
        memcpy(more, freed.requests, freed.room * sizeof *more);
    freed.requests = more;
    freed.room = room;
    return true;
}

/* Without memory for it MPI gets it as it is, and its bytes stay tracked. */
static int freed_take(MPI_Request *request)
{
    if (request_status_is_over(*request))
        return request_give_back(request);
    if (freed_count() == freed.room && !freed_grow()) {
        ahead_forget(*request);
        return real.MPI_Request_free(request);
    }
    freed.requests[freed_count()] = *request;
    freed_count_set(freed_count() + 1);
    *request = abi_handles.request_null;
    return MPI_SUCCESS;
}

void freed_requests_poll(void)
{
    if (freed_count() == 0)
        return;
    base_lock_take(&freed.lock);
    freed_sweep(LOOKS_PER_CALL);
    base_lock_release(&freed.lock);
}

/* Where no op begins nothing need be known, but of what is held or parted; and to ask for a generalized request would
 * call the program's function. */
static bool freed_is_of_interest(MPI_Request request)
{
    bool is_possible = session_reason() == REASON_NONE && request != abi_handles.request_null;
    return requests_know(request_key(request)) || ahead_knows(request) || (is_possible && untracked_are_some());
}

int entry_MPI_Request_free(MPI_Request *request)
{
    dispatch_wait_argument(request, sizeof *request);
    persistent_await(1, request);
    dispatch_enter();
    if (!freed_is_of_interest(*request))
        return dispatch_leave(real.MPI_Request_free(request));
    base_lock_take(&freed.lock);
    freed_sweep_when_many();
    int result = freed_take(request);
    base_lock_release(&freed.lock);
    return dispatch_leave(result);
}

void freed_requests_give_up(void)
{
    for (; freed_count() != 0; freed_count_set(freed_count() - 1)) {
        ahead_forget(freed.requests[freed_count() - 1]);
        real.MPI_Request_free(&freed.requests[freed_count() - 1]);
    }
}
