/* SPDX-License-Identifier: MIT */
/* A request that is tracked, or counted (untracked.h), is kept until it is over, and freed then: only so is it known
 * when its bytes are the program's again. Until then nobody writes what a large send sends: with MPI alone a program
 * may take its receiver's answer as proof that the send is over (MPI 4.1, 3.7.3, MPI_Request_free), but a receive that
 * has returned early is answered before. It is no op: its receiver may need this process's next calls, so none waits
 * for it but who uses that memory. */
#include "mpi/request/freed.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/lock.h"
#include "base/pages.h"
#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "mpi/entries.h"
#include "mpi/native.h"
#include "mpi/progress.h"
#include "op/host.h"
#include "op/judge.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/transfer.h"
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

/* --- sends --- */

/* For transfer_keep_begin(). The slot may be another op's by now: then its request is none of these. */
static void freed_look(struct transfer *transfer)
{
    MPI_Request request = native_of(transfer)->request;
    base_lock_take(&freed.lock);
    for (uint32_t i = 0; i < freed_count(); i++) {
        if (freed.requests[i] == request) {
            freed_poll(i);
            break;
        }
    }
    base_lock_release(&freed.lock);
}

/* The pages on which nothing but the message lies. Empty: there are none. Whoever writes beside the message need not
 * know that it is over, and the receiver may wait for what follows. */
static struct range freed_pages(struct range bytes)
{
    bool is_alone;
    enum reason reason = host.pages_check(bytes, false, &is_alone);
    if (is_alone)
        return bytes;
    struct range within = base_pages_within(bytes);
    bool is_possible = reason != REASON_MEMORY_STACK && within.low < within.high;
    if (is_possible)
        (void)host.pages_check(within, false, &is_alone);
    return is_alone ? within : (struct range){0, 0};
}

/* What may be held once the request is freed. Not inside the gate. */
static struct range freed_judge(MPI_Request request)
{
    struct range nothing = {0, 0};
    bool is_possible = requests_are_tracked() && session_hold_reason() == REASON_NONE && !requests_are_unknown();
    if (!is_possible || gate_is_inside() || !requests_is_whole_send(request_key(request)))
        return nothing;
    if (judge_session() != REASON_NONE || session_look_for_devices() != REASON_NONE)
        return nothing;
    struct range held = freed_pages(requests_range(request_key(request)));
    if (base_range_is_empty(held) || protect_memory_check_to_hold(held) != REASON_NONE || !session_has_engine())
        return nothing;
    return held;
}

static void freed_describe(struct transfer *transfer, MPI_Request request, struct range held)
{
    transfer->op.is_schedule = false;
    transfer->direction = POLICY_SEND;
    transfer->bytes = held.high - held.low;
    transfer->site = NULL;
    *native_of(transfer) = (struct native){.request = request, .ahead.bytes = held};
}

static void freed_hold(MPI_Request request, struct range held)
{
    if (base_range_is_empty(held) || !progress_prepare())
        return;
    struct transfer *transfer = transfer_take();
    if (transfer == NULL)
        return;
    freed_describe(transfer, request, held);
    if (transfer_hold(transfer, HOLD_NO_WRITE, held) == REASON_NONE)
        transfer_keep_begin(transfer, freed_look);
    else
        transfer_cancel(transfer);
}

/* --- the call --- */

/* Without memory for it MPI gets it as it is, and its bytes stay tracked. */
static int freed_take(MPI_Request *request, struct range held)
{
    if (request_status_is_over(*request))
        return request_give_back(request);
    if (freed_count() == freed.room && !freed_grow()) {
        ahead_forget(*request);
        return real.MPI_Request_free(request);
    }
    freed.requests[freed_count()] = *request;
    freed_count_set(freed_count() + 1);
    freed_hold(*request, held);
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
    struct range held = freed_judge(*request);
    dispatch_enter();
    if (!freed_is_of_interest(*request))
        return dispatch_leave(real.MPI_Request_free(request));
    base_lock_take(&freed.lock);
    freed_sweep_when_many();
    int result = freed_take(request, held);
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
