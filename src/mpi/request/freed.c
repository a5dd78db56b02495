/* SPDX-License-Identifier: MIT */
/* A request that is tracked, or counted (untracked.h), is kept until it is over, and freed then: only so is it known
 * when its bytes are the program's again. Until then nobody writes what a large send sends: with MPI alone a program
 * may take its receiver's answer as proof that the send is over (MPI 4.1, 3.7.3, MPI_Request_free), but a receive that
 * has returned early is answered before. It is no op: its receiver may need this process's next calls, so none waits
 * for it but who uses that memory. What cannot be held is waited for in calls that may bring that answer, for a time.
 */
#include "mpi/request/freed.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/options.h"
#include "base/pages.h"
#include "engine/gate.h"
#include "op/busy.h"
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

enum { FREED_FIRST = 512, SWEEP_FIRST = 64, POLLS_PER_CALL = 16 };

/* All under `lock`, but for a look whether there are any; [0, count) are in use, of `room`. next: where the next poll
 * begins. sweep_at: so many are kept before all are looked at. */
static struct {
    struct base_lock lock;
    _Atomic uint32_t count;
    uint32_t room;
    uint32_t next;
    uint32_t sweep_at;
    MPI_Request *requests;
} freed;

static void request_forget(MPI_Request request)
{
    requests_untrack(request_key(request));
    ahead_end_freed(request);
}

/* While it is known nobody goes straight to MPI, which below MPI_THREAD_MULTIPLE has one thread at a time. With several
 * a new request may have the handle as soon as it is free. */
static int request_give_back(MPI_Request *request)
{
    MPI_Request known = *request;
    bool is_shared = busy_is_shared();
    if (is_shared)
        request_forget(known);
    int result = real.MPI_Request_free(request);
    if (!is_shared)
        request_forget(known);
    return result;
}

static uint32_t freed_count(void)
{
    return atomic_load_explicit(&freed.count, memory_order_relaxed); /* a look, or under the lock */
}

static void freed_count_set(uint32_t count)
{
    atomic_store_explicit(&freed.count, count, memory_order_relaxed);
}

static void freed_remove(uint32_t index)
{
    request_give_back(&freed.requests[index]);
    freed_count_set(freed_count() - 1);
    freed.requests[index] = freed.requests[freed_count()];
}

static bool freed_poll(uint32_t index)
{
    if (!request_status_is_over(freed.requests[index]))
        return false;
    freed_remove(index);
    return true;
}

static void freed_sweep(uint32_t polls)
{
    for (uint32_t i = 0; i < polls && freed_count() != 0; i++)
        (void)freed_poll(freed.next++ % freed_count());
}

/* Each poll makes MPI progress: seldom, and all of them then. */
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

/* Under the lock. freed_count(): it is not there. */
static uint32_t freed_find(MPI_Request request)
{
    uint32_t i = 0;
    while (i < freed_count() && freed.requests[i] != request)
        i++;
    return i;
}

/* Still there? Inside the gate. */
static bool freed_is_under_way(MPI_Request request)
{
    base_lock_take(&freed.lock);
    uint32_t index = freed_find(request);
    bool is_under_way = index < freed_count() && !freed_poll(index);
    base_lock_release(&freed.lock);
    return is_under_way;
}

/* MPI gets it as the program gave it. */
static void freed_give_up(MPI_Request request)
{
    base_lock_take(&freed.lock);
    uint32_t index = freed_find(request);
    if (index < freed_count())
        freed_remove(index);
    base_lock_release(&freed.lock);
}

/* For transfer_keep_begin(). The slot may be another op's by now: then its request is none of these, or is not kept
 * yet. (Nothing is given up under MPI_THREAD_MULTIPLE, where another thread may be about to keep it.) */
static void freed_poll_kept(struct transfer *transfer)
{
    MPI_Request request = native_of(transfer)->request;
    if (transfer_is_kept(transfer))
        (void)freed_is_under_way(request);
    else if (!busy_is_shared())
        freed_give_up(request);
}

/* A send to be freed. held: what may be held of it. patience_ns: for what cannot be; whole_ns: for all of it. */
struct freed_send {
    bool is_wanted;
    struct range held;
    int64_t patience_ns;
    int64_t whole_ns;
};

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

static struct range freed_choose(const struct requests_send *send)
{
    struct range nothing = {0, 0};
    if (send->may_hide_gaps || requests_are_unknown() || session_look_for_devices() != REASON_NONE)
        return nothing;
    struct range held = freed_pages(send->bytes);
    bool is_possible = !base_range_is_empty(held) && protect_memory_check_to_hold(held) == REASON_NONE;
    return is_possible ? held : nothing;
}

int64_t freed_patience_ns(uint64_t bytes)
{
    enum { NS_PER_S = 1000000000, NS_PER_BYTE = 10, BYTES_MAX = 1 << 30 };
    return NS_PER_S + NS_PER_BYTE * (int64_t)(bytes < BYTES_MAX ? bytes : BYTES_MAX);
}

static bool freed_receives_may_return(void)
{
    return options.receives && options.hold != OPTION_HOLD_NONE && !gate_is_inside();
}

bool freed_answers_may_be_early(void)
{
    return freed_receives_may_return() && judge_session() == REASON_NONE;
}

/* Not inside the gate. */
static struct freed_send freed_judge(MPI_Request request)
{
    struct freed_send freed_send = {.is_wanted = false};
    struct requests_send send;
    if (!freed_receives_may_return() || !requests_are_tracked() || !requests_find_any_send(request_key(request), &send))
        return freed_send;
    freed_send.is_wanted = freed_answers_may_be_early() && session_has_engine();
    if (freed_send.is_wanted)
        freed_send.held = freed_choose(&send);
    freed_send.whole_ns = freed_patience_ns(send.bytes.high - send.bytes.low);
    if (freed_send.held.low != send.bytes.low || freed_send.held.high != send.bytes.high)
        freed_send.patience_ns = freed_send.whole_ns;
    return freed_send;
}

static void freed_describe(struct transfer *transfer, MPI_Request request, const struct freed_send *send)
{
    transfer->op.is_schedule = false;
    transfer->direction = POLICY_SEND;
    transfer->bytes = send->held.high - send->held.low;
    transfer->site = NULL;
    *native_of(transfer) =
        (struct native){.request = request, .ahead.bytes = send->held, .patience_ns = send->patience_ns};
}

/* What cannot be held after all is waited for, as what could not be from the start. */
static void freed_hold(struct transfer *transfer, const struct freed_send *send)
{
    if (base_range_is_empty(send->held) || transfer_hold(transfer, HOLD_NO_WRITE, send->held) == REASON_NONE)
        return;
    native_of(transfer)->ahead.bytes = (struct range){0, 0};
    native_of(transfer)->patience_ns = send->whole_ns;
}

static void freed_keep(MPI_Request request, const struct freed_send *send)
{
    struct transfer *transfer = send->is_wanted && progress_prepare() ? transfer_take() : NULL;
    if (transfer == NULL)
        return;
    freed_describe(transfer, request, send);
    requests_expect_engine();
    freed_hold(transfer, send);
    transfer_keep_begin(transfer, freed_poll_kept);
}

/* --- what is not held --- */

static bool freed_is_awaited(struct transfer *transfer, int64_t begin_ns)
{
    struct native *native = native_of(transfer);
    if (native->patience_ns == 0 || !freed_is_under_way(native->request))
        return false;
    if (base_clock_now_ns() - begin_ns >= native->patience_ns)
        native->patience_ns = 0;
    return native->patience_ns != 0;
}

static int freed_poll_awaited(void *begin_ns, int *is_over)
{
    bool is_awaited = false;
    for (struct transfer *one = NULL; (one = transfer_ahead_next(one)) != NULL;)
        is_awaited |= freed_is_awaited(one, *(int64_t *)begin_ns);
    *is_over = !is_awaited;
    return MPI_SUCCESS;
}

void freed_requests_await_some(void)
{
    if (gate_is_inside())
        return;
    int64_t begin_ns = base_clock_now_ns();
    dispatch_block(freed_poll_awaited, &begin_ns);
}

/* --- the call --- */

/* Without memory for it MPI gets it as it is, and its bytes stay tracked. */
static int freed_take(MPI_Request *request, const struct freed_send *send)
{
    if (request_status_is_over(*request))
        return request_give_back(request);
    if (freed_count() == freed.room && !freed_grow()) {
        ahead_forget(*request);
        return real.MPI_Request_free(request);
    }
    freed.requests[freed_count()] = *request;
    freed_count_set(freed_count() + 1);
    freed_keep(*request, send);
    *request = abi_handles.request_null;
    return MPI_SUCCESS;
}

void freed_requests_poll(void)
{
    if (freed_count() == 0)
        return;
    base_lock_take(&freed.lock);
    freed_sweep(POLLS_PER_CALL);
    base_lock_release(&freed.lock);
}

/* Where no op begins nothing need be known, but of what is held or parted; and to ask for a generalized request would
 * call the program's function. */
static bool freed_is_of_interest(MPI_Request request)
{
    bool is_possible = session_reason() == REASON_NONE && request != abi_handles.request_null;
    return requests_know(request_key(request)) || ahead_knows(request) || (is_possible && untracked_are_some());
}

static int freed_refuse(MPI_Request *request)
{
    dispatch_enter();
    return dispatch_leave(real.MPI_Request_free(request));
}

int entry_MPI_Request_free(MPI_Request *request)
{
    if (request == NULL)
        return freed_refuse(request); /* MPI says itself what is wrong */
    dispatch_wait_argument(request, sizeof *request);
    persistent_await(1, request);
    struct freed_send send = freed_judge(*request);
    dispatch_enter();
    if (!freed_is_of_interest(*request))
        return dispatch_leave(real.MPI_Request_free(request));
    base_lock_take(&freed.lock);
    freed_sweep_when_many();
    int result = freed_take(request, &send);
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
