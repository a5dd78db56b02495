/* SPDX-License-Identifier: MIT */
#include "op/judge.h"

#include "base/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "op/away.h"
#include "op/busy.h"
#include "op/call_site.h"
#include "op/host.h"
#include "op/requests.h"
#include "op/thread.h"
#include "protect/protect.h"

/* Outside the gate. */
static enum reason judge_loaded(void)
{
    session_meet_loaded();
    session_meet_late_threads();
    return session_reason();
}

enum reason judge_session(void)
{
    return gate_is_inside() ? REASON_CALLBACK : judge_loaded();
}

static enum reason judge_call(struct policy_call *call, struct policy_answer *answer)
{
    enum reason reason = session_reason_to_begin();
    if (reason != REASON_NONE)
        return reason;
    call->place = call_site_of(call->place);
    call->away = away_end();
    call->now_ns = op_thread.away.began_ns;
    call->thread = &op_thread;
    call->is_engine_dear = engine_is_dear;
    *answer = policy_ask(call);
    away_note(answer);
    return answer->is_allowed ? judge_loaded() : REASON_LEARNED;
}

bool judge_may_lock_out(void)
{
    if (options.send_buffers == OPTION_SEND_BUFFERS_HOLD)
        return false;
    return busy_is_shared() ? session_threads_may_call() : session_threads_may_lock();
}

enum reason judge_memory(struct range bytes, bool is_sent)
{
    if (is_sent && judge_may_lock_out())
        return REASON_OTHER_THREAD;
    enum reason held = session_look_for_devices();
    if (held != REASON_NONE && !is_sent)
        return held;
    enum reason memory = protect_memory_check_to_hold(bytes);
    return memory != REASON_NONE ? memory : held;
}

bool judge_may_copy(enum reason reason)
{
    return reason == REASON_MEMORY_STACK || reason == REASON_MEMORY_MAPPINGS || reason == REASON_MEMORY_SHARED ||
           reason == REASON_MEMORY_LOCKED || reason == REASON_OTHER_THREAD ||
           (reason != REASON_NONE && reason == session_hold_reason());
}

/* What MPI may use beside a send in the heap stays open: the send goes from a copy, or moves without those pages. */
static bool send_needs_no_hold(struct range bytes, enum reason memory)
{
    return judge_may_copy(memory) || (memory == REASON_NONE && host.pages_are_heap(bytes));
}

enum reason judge_foresee(const struct judge_foreseen *call)
{
    enum reason memory = judge_memory(call->memory, call->is_sent);
    if (call->is_sent && send_needs_no_hold(call->bytes, memory))
        return REASON_NONE;
    return memory != REASON_NONE ? memory : call->neighbours;
}

enum session_order judge_order(void)
{
    enum session_order order = session_order();
    return order == SESSION_ORDER_KEPT && requests_are_unknown() ? SESSION_ORDER_MATCHED : order;
}

/* Several threads keep no turns, nor do requests that nobody knows (judge_order()). */
static bool judge_may_start_apart(const struct policy_call *call)
{
    return call->direction == POLICY_RECEIVE && options.match != OPTION_MATCH_OFF && !busy_is_shared() &&
           !requests_are_unknown();
}

enum reason judge_message(struct policy_call *call, const struct range *held, struct judge_answer *answer)
{
    *answer = (struct judge_answer){.order = SESSION_ORDER_FREE};
    enum reason reason = judge_call(call, &answer->policy);
    if (reason == REASON_NONE && call->direction == POLICY_RECEIVE)
        answer->order = judge_order();
    answer->starts_apart = answer->policy.starts_apart && judge_may_start_apart(call);
    if (reason == REASON_NONE && held != NULL)
        reason = judge_memory(*held, call->direction == POLICY_SEND);
    return reason;
}
