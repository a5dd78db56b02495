/* SPDX-License-Identifier: MIT */
#include "mpi/request/sent.h"

#include "base/clock.h"
#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "mpi/request/leaving.h"
#include "mpi/request_status.h"
#include "mpi/status.h"
#include "op/away.h"
#include "op/late_errors.h"
#include "policy/policy.h"

/* --- which sends --- */

/* False where there are none, or more than an op has; or where others would not end while they are only looked at. */
static bool sents_find(struct sent_op_sends *sents, const struct sent_op_wait *wait)
{
    struct requests_send send;
    sents->count = 0;
    for (int i = 0; i < wait->count; i++) {
        bool is_active = wait->requests[i] != abi_handles.request_null;
        if (!is_active || !requests_find_send(wait->keys[i], &send))
            continue;
        if (sents->count == NATIVE_SENDS_MAX)
            return false;
        sents->all[sents->count++] = (struct sent_op_send){i, send};
    }
    return sents->count != 0 && leaving_may_look(wait);
}

/* --- until nothing else is to be waited for --- */

struct sent_poll {
    const struct sent_op_wait *wait;
    struct sent_op_sends *sents;
    int next;         /* all requests before it are over, or sends */
    int sends_before; /* among those */
    int64_t until_ns; /* how long the sends have, once all others are over */
};

/* Sends stand in the order of the array. */
static bool poll_is_send(void *argument, int index)
{
    struct sent_poll *poll = argument;
    bool is_next = poll->sends_before < poll->sents->count && poll->sents->all[poll->sends_before].index == index;
    poll->sends_before += is_next;
    return is_next;
}

static void sents_drop_over(struct sent_op_sends *sents, const struct sent_op_wait *wait)
{
    int left = 0;
    for (int i = 0; i < sents->count; i++) {
        if (!request_status_is_over(wait->requests[sents->all[i].index]))
            sents->all[left++] = sents->all[i];
    }
    sents->count = left;
}

static int sent_poll(void *argument, int *is_over)
{
    struct sent_poll *poll = argument;
    if (poll->until_ns == 0 && !leaving_others_are_over(poll->wait, &poll->next, poll_is_send, poll))
        return MPI_SUCCESS;
    bool had_grace = leaving_grace_is_over(&poll->until_ns);
    sents_drop_over(poll->sents, poll->wait);
    *is_over = poll->sents->count == 0 || had_grace;
    return MPI_SUCCESS;
}

void sent_defer(struct sent_op_wait *wait)
{
    struct sent_op_sends sents;
    if (!leaving_is_possible() || !sents_find(&sents, wait))
        return;
    dispatch_block(sent_poll, &(struct sent_poll){.wait = wait, .sents = &sents});
    if (sents.count != 0)
        sent_op_try(wait, &sents);
}

/* --- a wait for one of them, or for some --- */

enum some_state { SOME_UNDER_WAY, SOME_RETURNED, SOME_OTHERS, SOME_LEFT };

struct some_poll {
    const struct sent_op_wait *wait;
    struct sent_op_sends *sents;
    enum some_state state;
    int64_t until_ns; /* how long the sends have, once it is known that there is nothing else to wait for */
};

/* And may all be looked at, and still be told of by MPI? */
static bool wait_has_send(const struct sent_op_wait *wait)
{
    struct requests_send send;
    bool has_send = false;
    for (int i = 0; i < wait->count; i++) {
        if (requests_loss(wait->keys[i]) != REQUESTS_LOSS_NONE)
            return false;
        has_send |= wait->requests[i] != abi_handles.request_null && requests_find_send(wait->keys[i], &send);
    }
    return has_send;
}

/* The only active request, where it is a send. False: another is under way, too, and may be what the program waits for:
 * to name a send that is not over would let the program fill its buffer, and so wait for it. */
static bool sents_find_only(struct sent_op_sends *sents, const struct sent_op_wait *wait)
{
    struct requests_send send;
    sents->count = 0;
    for (int i = 0; i < wait->count; i++) {
        if (request_status_is_over(wait->requests[i]))
            continue;
        if (sents->count != 0 || !requests_find_send(wait->keys[i], &send))
            return false;
        sents->all[sents->count++] = (struct sent_op_send){i, send};
    }
    return true;
}

static enum some_state some_next(struct some_poll *poll)
{
    if (poll->until_ns == 0 && !sents_find_only(poll->sents, poll->wait))
        return SOME_OTHERS;
    return leaving_grace_is_over(&poll->until_ns) ? SOME_LEFT : SOME_UNDER_WAY;
}

static int some_poll(void *argument, int *is_over)
{
    struct some_poll *poll = argument;
    int result = poll->wait->poll(poll->wait->argument, is_over);
    poll->state = *is_over || result != MPI_SUCCESS ? SOME_RETURNED : some_next(poll);
    *is_over = poll->state != SOME_UNDER_WAY;
    return result;
}

/* As MPI itself tells of a send: nothing but that it was not cancelled. */
static void sent_tell(const struct sent_op_wait *wait, const struct sent_op_send *sent)
{
    MPI_Request none = abi_handles.request_null;
    dispatch_enter();
    *wait->indices = sent->index;
    real.MPI_Wait(&none, status_is_ignored(wait->statuses) ? MPI_STATUS_IGNORE : wait->statuses);
    if (wait->out_count != NULL)
        *wait->out_count = 1;
    gate_leave();
}

bool sent_defer_some(struct sent_op_wait *wait, int *result)
{
    struct sent_op_sends sents = {.count = 0};
    struct some_poll poll = {.wait = wait, .sents = &sents};
    if (!leaving_is_possible() || !wait_has_send(wait))
        return false;
    *result = dispatch_block(some_poll, &poll);
    if (poll.state == SOME_LEFT && sents.count != 0 && sent_op_try(wait, &sents)) {
        sent_tell(wait, &sents.all[0]);
        poll.state = SOME_RETURNED;
    }
    *result = poll.state == SOME_RETURNED ? late_errors_or(*result) : *result;
    return poll.state == SOME_RETURNED;
}

void sent_learn(const struct sent_op_wait *wait)
{
    if (wait->site != NULL)
        policy_site_saw_pass(wait->site, wait->situation, base_clock_now_ns() - wait->begun_ns);
    away_begin();
}
