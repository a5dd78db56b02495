/* SPDX-License-Identifier: MIT */
#include "op/away.h"

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/options.h"
#include "op/stall.h"
#include "op/thread.h"
#include "policy/policy.h"

static void site_put(struct policy_site **sites, struct policy_site *site)
{
    sites[sites[0] != NULL] = site;
}

/* The program waited for its ops meanwhile: that is no time of its own. */
static struct policy_away away_take(int64_t now_ns)
{
    struct thread_away *away = &op_thread.away;
    struct policy_away seen = {.sites = {NULL}};
    if (away->sites[0] == NULL)
        return seen;
    seen.away_ns = now_ns - away->returned_ns - (stall_total_ns() - away->stalled_ns);
    for (int i = 0; i < POLICY_HALVES; i++) {
        seen.sites[i] = away->sites[i];
        away->sites[i] = away->passed[i] = NULL;
    }
    return seen;
}

struct policy_away away_end(void)
{
    if (!options.learn || op_thread.away.began_ns != 0)
        return (struct policy_away){.sites = {NULL}};
    op_thread.away.began_ns = base_clock_now_ns();
    return away_take(op_thread.away.began_ns);
}

void away_note_site(struct policy_site *site)
{
    if (options.learn)
        site_put(op_thread.away.sites, site);
}

void away_note(const struct policy_answer *answer)
{
    away_note_site(answer->site);
    if (answer->is_allowed)
        return;
    op_thread.away.situations[op_thread.away.passed[0] != NULL] = answer->situation;
    site_put(op_thread.away.passed, answer->site);
}

void away_begin(void)
{
    struct thread_away *away = &op_thread.away;
    if (away->began_ns == 0)
        return;
    away->returned_ns = base_clock_now_ns();
    away->stalled_ns = stall_total_ns();
    for (int i = 0; i < POLICY_HALVES && away->passed[i] != NULL; i++)
        policy_site_saw_pass(away->passed[i], away->situations[i], away->returned_ns - away->began_ns);
    away->began_ns = 0;
}
