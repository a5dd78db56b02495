/* SPDX-License-Identifier: MIT */
#include "mpi/request/leaving.h"

#include "base/clock.h"
#include "engine/gate.h"
#include "mpi/errors.h"
#include "mpi/request_status.h"
#include "op/busy.h"
#include "op/session.h"

enum { GRACE_NS = 50000 };

bool leaving_is_possible(void)
{
    bool is_alone = !busy_is_shared() && !gate_is_inside();
    return is_alone && session_reason_to_begin() == REASON_NONE && session_hold_reason() == REASON_NONE;
}

bool leaving_may_look(const struct sent_op_wait *wait)
{
    for (int i = 0; i < wait->count; i++) {
        bool is_unknown = requests_range(wait->keys[i]).high == UINTPTR_MAX;
        if (is_unknown || requests_loss(wait->keys[i]) == REQUESTS_LOSS_STATUS)
            return false;
    }
    return true;
}

bool leaving_others_are_over(const struct sent_op_wait *wait, int *next, leaving_stays_fn *stays, void *argument)
{
    struct errors_muted muted = errors_mute();
    while (*next < wait->count && (stays(argument, *next) || request_status_is_over_muted(wait->requests[*next])))
        (*next)++;
    errors_unmute(&muted);
    return *next >= wait->count;
}

/* Where nothing is learnt there is none. */
bool leaving_grace_is_over(int64_t *until_ns)
{
    int64_t now_ns = base_clock_now_ns();
    if (*until_ns == 0)
        *until_ns = now_ns + (options.learn ? GRACE_NS : 0);
    return now_ns >= *until_ns;
}
