/* SPDX-License-Identifier: MIT */
#include "mpi/request/sent_op.h"

#include "base/clock.h"
#include "base/pages.h"
#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "mpi/native.h"
#include "mpi/request_key.h"
#include "mpi/status.h"
#include "op/away.h"
#include "op/call_site.h"
#include "op/judge.h"
#include "op/late_errors.h"
#include "op/neighbours.h"
#include "op/session.h"
#include "policy/policy.h"
#include "protect/protect.h"

static uint64_t sents_bytes(const struct sent_op_sends *sents)
{
    uint64_t bytes = 0;
    for (int i = 0; i < sents->count; i++)
        bytes += sents->all[i].send.bytes.high - sents->all[i].send.bytes.low;
    return bytes;
}

/* Is what the op holds for an earlier send enough for this one, too? */
static bool sent_is_covered(const struct sent_op_sends *sents, int number)
{
    struct range bytes = sents->all[number].send.bytes;
    for (int i = 0; i < number; i++)
        if (base_range_covers(sents->all[i].send.bytes, bytes))
            return true;
    return false;
}

/* These are still read and written in the call. */
static bool sent_shares_pages(const struct sent_op_wait *wait, struct range pages)
{
    size_t count = (size_t)wait->count;
    size_t named = wait->indices != NULL ? count : 0;
    struct range requests = base_range_of(wait->requests, count * sizeof *wait->requests);
    struct range indices = base_range_of(wait->indices, named * sizeof *wait->indices);
    struct range out_count = base_range_of(wait->out_count, wait->out_count != NULL ? sizeof *wait->out_count : 0);
    struct range statuses = base_range_of(wait->statuses, count * sizeof *wait->statuses);
    bool is_status = !status_is_ignored(wait->statuses) && base_ranges_overlap(statuses, pages);
    return is_status || base_ranges_overlap(requests, pages) || base_ranges_overlap(indices, pages) ||
           base_ranges_overlap(out_count, pages);
}

static bool sent_is_holdable(const struct sent_op_wait *wait, struct range bytes)
{
    struct range pages = base_pages_of(bytes);
    return !sent_shares_pages(wait, pages) && protect_memory_check_to_hold(bytes) == REASON_NONE;
}

static bool sents_are_holdable(const struct sent_op_wait *wait, const struct sent_op_sends *sents)
{
    uint32_t holds = 0;
    if (judge_session() != REASON_NONE || session_look_for_devices() != REASON_NONE || judge_may_lock_out())
        return false; /* what MPI sends already cannot go from a copy */
    for (int i = 0; i < sents->count; i++) {
        if (sent_is_covered(sents, i))
            continue;
        if (++holds > TRANSFER_HOLDS_MAX || !sent_is_holdable(wait, sents->all[i].send.bytes))
            return false;
    }
    return true;
}

/* Notes what a call that waits is to be learnt for. */
static bool sents_are_worth_it(struct sent_op_wait *wait, const struct sent_op_sends *sents)
{
    const void *buffer = (const void *)sents->all[0].send.bytes.low;
    struct policy_site *site = policy_site_find(call_site_of(wait->return_address), POLICY_SEND, sents_bytes(sents));
    struct policy_away away = away_end();
    policy_saw_away(&away);
    away_note_site(site);
    wait->site = site;
    wait->situation = policy_site_situation(site, buffer, 0);
    wait->begun_ns = base_clock_now_ns();
    return policy_site_helps(site, wait->situation);
}

static bool native_test(struct native *native, uint32_t number)
{
    MPI_Request *request = &native->sends[number];
    int is_over = 0;
    if (*request == abi_handles.request_null)
        return true;
    int result = real.MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
    if (result == MPI_SUCCESS)
        return is_over;
    late_errors_keep(result);
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

static void sents_describe(struct transfer *transfer, const struct sent_op_wait *wait,
                           const struct sent_op_sends *sents)
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

static enum reason sents_hold(struct transfer *transfer, const struct sent_op_sends *sents)
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

/* Of what is over MPI uses nothing any more, and of the rest what the op is going to hold. */
static void sents_set_aside(const struct sent_op_wait *wait, const struct sent_op_sends *sents, bool is_aside)
{
    bool are_others_over = wait->indices == NULL;
    for (int i = 0; i < (are_others_over ? wait->count : sents->count); i++)
        requests_set_aside(wait->keys[are_others_over ? i : sents->all[i].index], is_aside);
}

/* A persistent request stays the program's, and tracked. */
static void sent_take(const struct transfer *transfer, struct sent_op_wait *wait, const struct sent_op_send *sent)
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

static void sents_take(struct transfer *transfer, struct sent_op_wait *wait, const struct sent_op_sends *sents)
{
    struct native *native = native_of(transfer);
    native->send_count = (uint32_t)sents->count;
    for (int i = 0; i < sents->count; i++) {
        native->sends[i] = wait->requests[sents->all[i].index];
        sent_take(transfer, wait, &sents->all[i]);
    }
}

/* Inside the gate. */
static bool sents_begin(struct transfer *transfer, struct sent_op_wait *wait, const struct sent_op_sends *sents)
{
    sents_set_aside(wait, sents, true);
    enum reason reason = sents_hold(transfer, sents);
    sents_set_aside(wait, sents, false);
    if (reason != REASON_NONE) {
        transfer_cancel(transfer);
        return false;
    }
    sents_take(transfer, wait, sents);
    transfer_launch(transfer);
    return true;
}

static bool sents_carry(struct sent_op_wait *wait, const struct sent_op_sends *sents)
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

bool sent_op_try(struct sent_op_wait *wait, const struct sent_op_sends *sents)
{
    if (!sents_are_worth_it(wait, sents))
        return false;
    bool is_begun = sents_are_holdable(wait, sents) && sents_carry(wait, sents);
    if (is_begun)
        wait->site = NULL;
    return is_begun;
}
