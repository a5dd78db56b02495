/* SPDX-License-Identifier: MIT */
#include "op/assist.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "op/busy.h"
#include "op/call_site.h"
#include "op/session.h"
#include "policy/policy.h"
#include "record/record.h"

/* The engine wakes and goes back to sleep: two thread switches and a look at MPI,
 * measured on the reference machine. */
enum { ASSIST_COST_NS = 20000 };

void assist_note_wait(void)
{
    atomic_store_explicit(&engine_pending_state.wait_began_ns, base_clock_now_ns(), memory_order_relaxed);
}

static bool assist_is_worth(const struct assist *assist)
{
    /* Who makes progress by hand knows better than a site's history. */
    return options.progress == OPTION_PROGRESS_MANUAL || policy_site_helps(assist->site, assist->situation);
}

bool assist_judge(struct assist *assist, uint64_t bytes, uintptr_t buffer, const void *return_address)
{
    struct policy_site *site = policy_site_find(call_site_of(return_address), POLICY_NONBLOCKING, bytes);
    *assist = (struct assist){.site = site, .started_ns = base_clock_now_ns()};
    assist->situation = policy_site_situation(site, (const void *)buffer, 0);
    return assist_is_worth(assist);
}

void assist_engage(struct assist *assist)
{
    assist->is_observed = assist->is_active = true;
    assist->engine_before_ns = engine_charge_ns();
    busy_raise();
    engine_assist_begin();
}

void assist_begin(struct assist *assist, uint64_t bytes, uintptr_t buffer, const void *return_address)
{
    bool is_worth = assist_judge(assist, bytes, buffer, return_address);
    assist->is_observed = true;
    if (is_worth && session_has_engine())
        assist_engage(assist);
}

/* When the program began to wait for it; if it has not, now. */
static int64_t assist_awaited_ns(const struct assist *assist, int64_t now_ns)
{
    int64_t began_ns = atomic_load_explicit(&engine_pending_state.wait_began_ns, memory_order_relaxed);
    return began_ns > assist->started_ns ? began_ns : now_ns;
}

static void assist_learn(const struct assist *assist, struct policy_help help)
{
    if (engine_is_dear())
        policy_site_saw_help(assist->site, assist->situation, help);
    else
        policy_site_saw_slack(assist->site, assist->situation, help.slack_ns, help.cost_ns);
}

static void assist_engine_end(int64_t slack_ns)
{
    gate_enter();
    engine_pending_assist_end();
    gate_leave();
    busy_lower();
    record_count(RECORD_ASSISTED, 1);
    record_count(RECORD_ASSISTED_NS, (uint64_t)slack_ns);
}

void assist_end(struct assist *assist)
{
    int64_t now_ns = base_clock_now_ns();
    int64_t awaited_ns = assist_awaited_ns(assist, now_ns);
    struct policy_help help = {.is_helped = assist->is_active,
                               .slack_ns = awaited_ns - assist->started_ns,
                               .waited_ns = now_ns - awaited_ns,
                               .cost_ns = ASSIST_COST_NS + engine_charge_ns() - assist->engine_before_ns};
    if (assist->is_active)
        assist_engine_end(help.slack_ns);
    assist_learn(assist, help);
    assist->is_observed = assist->is_active = false;
}

void assist_learn_wait(struct assist_waits *waits, const struct assist *assist, struct policy_site *site,
                       uint32_t situation)
{
    int64_t now_ns = base_clock_now_ns();
    int64_t began_ns = assist_awaited_ns(assist, now_ns);
    if (began_ns != waits->began_ns)
        waits->count_then = waits->count;
    waits->began_ns = began_ns;
    waits->count--;
    policy_site_saw_pass(site, situation, (now_ns - began_ns) / waits->count_then);
}
