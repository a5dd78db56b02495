/* SPDX-License-Identifier: MIT */
#include "intercept/assist.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "intercept/busy.h"
#include "intercept/fortran/callers.h"
#include "intercept/session.h"
#include "policy/policy.h"
#include "record/record.h"

/* The engine wakes and goes back to sleep: two thread switches and a look at MPI,
 * measured on the reference machine. */
enum { ASSIST_COST_NS = 20000 };

/* Written by whoever waits, read by whoever ends an operation; relaxed: numbers for judging. */
static _Atomic int64_t wait_began_ns;

void assist_note_wait(void)
{
    if (!engine_assists())
        return;
    atomic_store_explicit(&wait_began_ns, base_clock_now_ns(), memory_order_relaxed);
}

static bool assist_is_possible(struct policy_site *site)
{
    /* Who makes progress by hand knows better than a site's history. */
    return options.progress == OPTION_PROGRESS_MANUAL || policy_site_allows(site);
}

void assist_begin(struct assist *assist, uint64_t bytes, const void *return_address)
{
    struct policy_site *site = policy_site_find(fortran_call_site(return_address), POLICY_NONBLOCKING, bytes);
    if (!assist_is_possible(site) || !session_has_engine())
        return;
    busy_raise();
    engine_assist_begin();
    *assist = (struct assist){true, site, base_clock_now_ns()};
}

static int64_t assist_slack_ns(const struct assist *assist)
{
    int64_t began_ns = atomic_load_explicit(&wait_began_ns, memory_order_relaxed);
    int64_t until_ns = began_ns > assist->started_ns ? began_ns : base_clock_now_ns();
    return until_ns - assist->started_ns;
}

void assist_end(struct assist *assist)
{
    int64_t slack_ns = assist_slack_ns(assist);
    gate_enter();
    engine_assist_end();
    gate_leave();
    busy_lower();
    assist->is_active = false;
    record_count(RECORD_ASSISTED, 1);
    record_count(RECORD_ASSISTED_NS, (uint64_t)slack_ns);
    policy_site_learn(assist->site, slack_ns, ASSIST_COST_NS);
}
