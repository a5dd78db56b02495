/* SPDX-License-Identifier: MIT */
#include "mpi/request/sent.h"

#include "base/clock.h"
#include "base/pages.h"
#include "bind/bind.h"
#include "engine/gate.h"
#include "libc/locked.h"
#include "mpi/dispatch.h"
#include "mpi/errors.h"
#include "mpi/native.h"
#include "mpi/request_key.h"
#include "mpi/status.h"
#include "op/arming.h"
#include "op/away.h"
#include "op/call_site.h"
#include "op/neighbours.h"
#include "op/requests.h"
#include "op/session.h"
#include "policy/policy.h"
#include "protect/protect.h"
#include "record/record.h"

/* A send that is over so soon after all else is not worth a hold. */
enum { GRACE_NS = 50000 };

struct sent {
    int index; /* in the call's array */
    struct requests_send send;
};

/* The call's sends that are still under way, in the order of its array. */
struct sents {
    int count;
    struct sent all[NATIVE_SENDS_MAX];
};

/* --- which sends --- */

static bool sent_is_possible(void)
{
    bool is_alone = !gate_is_shared() && !gate_is_inside();
    return is_alone && session_reason_to_begin() == REASON_NONE && session_hold_reason() == REASON_NONE;
}

/* Is there one of which nobody knows where its bytes lie? MPICH's nonblocking operations on files, which are among
 * these, only go on in calls that complete them, and others_are_over() makes none. */
static bool wait_has_unknown(const struct sent_wait *wait)
{
    for (int i = 0; i < wait->count; i++) {
        if (requests_range(wait->keys[i]).high == UINTPTR_MAX)
            return true;
    }
    return false;
}

/* False where there are none, or more than an op has; or where others would not end while they are only looked at. */
static bool sents_find(struct sents *sents, const struct sent_wait *wait)
{
    struct requests_send send;
    sents->count = 0;
    for (int i = 0; i < wait->count; i++) {
        bool is_active = wait->requests[i] != abi_handles.request_null;
        if (!is_active || !requests_find_send(wait->keys[i], &send))
            continue;
        if (sents->count == NATIVE_SENDS_MAX)
            return false;
        sents->all[sents->count++] = (struct sent){i, send};
    }
    return sents->count != 0 && !wait_has_unknown(wait);
}

/* --- until nothing else is to be waited for --- */

struct sent_look {
    const struct sent_wait *wait;
    struct sents *sents;
    int next;         /* all requests before it are over, or sends */
    int sends_before; /* among those */
    int64_t until_ns; /* how long the sends have, once all others are over */
};

/* One that has failed, too: the call hears of it from MPI. */
static bool request_is_over(MPI_Request request)
{
    int is_over = 0;
    if (request == abi_handles.request_null)
        return true;
    return real.MPI_Request_get_status(request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_over;
}

static bool look_is_send(const struct sent_look *look)
{
    return look->sends_before < look->sents->count && look->sents->all[look->sends_before].index == look->next;
}

static bool others_are_over(struct sent_look *look)
{
    for (; look->next < look->wait->count; look->next++) {
        if (look_is_send(look))
            look->sends_before++;
        else if (!request_is_over(look->wait->requests[look->next]))
            return false;
    }
    return true;
}

static void sents_drop_over(struct sents *sents, const struct sent_wait *wait)
{
    int left = 0;
    for (int i = 0; i < sents->count; i++) {
        if (!request_is_over(wait->requests[sents->all[i].index]))
            sents->all[left++] = sents->all[i];
    }
    sents->count = left;
}

static int sent_look(void *argument, int *is_over)
{
    struct sent_look *look = argument;
    if (look->until_ns == 0 && !others_are_over(look))
        return MPI_SUCCESS;
    int64_t now_ns = base_clock_now_ns();
    if (look->until_ns == 0)
        look->until_ns = now_ns + (options.learn ? GRACE_NS : 0);
    sents_drop_over(look->sents, look->wait);
    *is_over = look->sents->count == 0 || now_ns >= look->until_ns;
    return MPI_SUCCESS;
}

/* --- whether it is worth it, and possible --- */

static uint64_t sents_bytes(const struct sents *sents)
{
    uint64_t bytes = 0;
    for (int i = 0; i < sents->count; i++)
        bytes += sents->all[i].send.bytes.high - sents->all[i].send.bytes.low;
    return bytes;
}

/* Is what the op holds for an earlier send enough for this one, too? */
static bool sent_is_covered(const struct sents *sents, int number)
{
    struct range bytes = sents->all[number].send.bytes;
    for (int i = 0; i < number; i++) {
        struct range before = sents->all[i].send.bytes;
        if (before.low <= bytes.low && bytes.high <= before.high)
            return true;
    }
    return false;
}

/* MPI still reads and writes these in the call. */
static bool sent_shares_pages(const struct sent_wait *wait, struct range pages)
{
    size_t count = (size_t)wait->count;
    struct range requests = base_range_of(wait->requests, count * sizeof *wait->requests);
    struct range statuses = base_range_of(wait->statuses, count * sizeof *wait->statuses);
    bool is_status = !status_is_ignored(wait->statuses) && base_ranges_overlap(statuses, pages);
    return is_status || base_ranges_overlap(requests, pages);
}

static bool sent_is_holdable(const struct sent_wait *wait, struct range bytes)
{
    struct range pages = base_pages_of(bytes);
    return !sent_shares_pages(wait, pages) && protect_memory_check(bytes) == REASON_NONE && !libc_locked_touches(pages);
}

static bool sents_are_holdable(const struct sent_wait *wait, const struct sents *sents)
{
    uint32_t holds = 0;
    bind_adjust_objects(); /* a library loaded since may be about to reach MPI past us */
    if (session_reason() != REASON_NONE || session_look_for_devices() != REASON_NONE)
        return false;
    for (int i = 0; i < sents->count; i++) {
        if (sent_is_covered(sents, i))
            continue;
        if (++holds > TRANSFER_HOLDS_MAX || !sent_is_holdable(wait, sents->all[i].send.bytes))
            return false;
    }
    return true;
}

/* Notes what a call that waits is to be learnt for. */
static bool sents_are_worth_it(struct sent_wait *wait, const struct sents *sents)
{
    const void *buffer = (const void *)sents->all[0].send.bytes.low;
    struct policy_site *site = policy_site_find(call_site_of(wait->return_address), POLICY_SEND, sents_bytes(sents));
    away_end(site);
    wait->site = site;
    wait->situation = policy_site_situation(site, buffer, 0);
    wait->begun_ns = base_clock_now_ns();
    return policy_site_helps(site, wait->situation);
}

/* --- the op --- */

static bool native_test(struct native *native, uint32_t number)
{
    MPI_Request *request = &native->sends[number];
    int is_over = 0;
    if (*request == abi_handles.request_null)
        return true;
    int result = real.MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
    if (result == MPI_SUCCESS)
        return is_over;
    errors_keep(result);
    *request = abi_handles.request_null;
    return true;
}

/* The engine's question. MPI raises an error as the program's own wait would have. */
static bool sent_test(struct engine_pending_op *op)
{
    struct transfer *transfer = (struct transfer *)op;
    struct native *native = native_of(transfer);
    while (native->send_count != 0 && native_test(native, native->send_count - 1))
        native->send_count--;
    if (native->send_count != 0)
        return false;
    transfer_end(transfer);
    return true;
}

static void sents_describe(struct transfer *transfer, const struct sent_wait *wait, const struct sents *sents)
{
    transfer->op.test = sent_test;
    transfer->op.is_schedule = false;
    transfer->direction = POLICY_SEND;
    transfer->bytes = sents_bytes(sents);
    transfer->site = wait->site;
    transfer->situation = wait->situation;
}

static enum reason sent_check_neighbours(const struct requests_send *send)
{
    if (protect_armed_find(send->bytes, true) != 0)
        return REASON_MEMORY_NEIGHBOURS;
    return neighbours_check(send->bytes, false, send->may_hide_gaps);
}

static enum reason sents_hold(struct transfer *transfer, const struct sents *sents)
{
    enum reason reason = REASON_NONE;
    for (int i = 0; reason == REASON_NONE && i < sents->count; i++) {
        const struct requests_send *send = &sents->all[i].send;
        if (sent_is_covered(sents, i))
            continue;
        reason = sent_check_neighbours(send);
        if (reason == REASON_NONE)
            reason = transfer_hold(transfer, HOLD_NO_WRITE, send->bytes);
    }
    return reason;
}

/* Of all that are waited for MPI uses nothing any more but what the op is going to hold. */
static void wait_set_aside(const struct sent_wait *wait, bool is_aside)
{
    for (int i = 0; i < wait->count; i++)
        requests_set_aside(wait->keys[i], is_aside);
}

/* A persistent request stays the program's, and tracked. */
static void sent_take(const struct transfer *transfer, struct sent_wait *wait, const struct sent *sent)
{
    uint64_t *key = &wait->keys[sent->index];
    wait->requests[sent->index] = abi_handles.request_null;
    if (sent->send.is_persistent) {
        requests_settle(*key);
        requests_leave_to(*key, transfer_id(transfer->slot));
        wait->has_persistent = true;
        return;
    }
    requests_untrack(*key);
    *key = request_key(abi_handles.request_null);
}

static void sents_take(struct transfer *transfer, struct sent_wait *wait, const struct sents *sents)
{
    struct native *native = native_of(transfer);
    native->send_count = (uint32_t)sents->count;
    for (int i = 0; i < sents->count; i++) {
        native->sends[i] = wait->requests[sents->all[i].index];
        sent_take(transfer, wait, &sents->all[i]);
    }
}

/* Inside the gate. */
static bool sents_begin(struct transfer *transfer, struct sent_wait *wait, const struct sents *sents)
{
    wait_set_aside(wait, true);
    arming_begin();
    enum reason reason = sents_hold(transfer, sents);
    arming_end();
    wait_set_aside(wait, false);
    if (reason != REASON_NONE) {
        transfer_cancel(transfer);
        return false;
    }
    sents_take(transfer, wait, sents);
    transfer_launch(transfer);
    return true;
}

static bool sents_carry(struct sent_wait *wait, const struct sents *sents)
{
    struct transfer *transfer = session_has_engine() ? transfer_take() : NULL;
    if (transfer == NULL)
        return false;
    sents_describe(transfer, wait, sents);
    dispatch_enter();
    bool is_begun = sents_begin(transfer, wait, sents);
    gate_leave();
    return is_begun;
}

void sent_defer(struct sent_wait *wait)
{
    struct sents sents;
    wait->site = NULL;
    if (!sent_is_possible() || !sents_find(&sents, wait))
        return;
    dispatch_block(sent_look, &(struct sent_look){.wait = wait, .sents = &sents});
    if (sents.count == 0 || !sents_are_worth_it(wait, &sents))
        return;
    if (sents_are_holdable(wait, &sents) && sents_carry(wait, &sents))
        wait->site = NULL;
}

void sent_learn(const struct sent_wait *wait)
{
    if (wait->site != NULL)
        policy_site_saw_pass(wait->site, wait->situation, base_clock_now_ns() - wait->begun_ns);
    away_begin();
}
