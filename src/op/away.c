/* SPDX-License-Identifier: MIT */
#include "op/away.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/options.h"
#include "op/stall.h"
#include "policy/policy.h"

enum { HALVES = 2 };

/* The thread's last large blocking call. began_ns: 0 once it has returned. */
static _Thread_local struct {
    struct policy_site *sites[HALVES];
    struct policy_site *passed[HALVES];
    uint32_t situations[HALVES]; /* in which those were */
    int64_t began_ns;
    int64_t returned_ns;
    int64_t stalled_ns; /* stall_total_ns() at the return */
} last;

static void site_put(struct policy_site **sites, struct policy_site *site)
{
    sites[sites[0] != NULL] = site;
}

/* The program waited for its ops meanwhile: that is no time of its own. */
static void away_tell(int64_t now_ns)
{
    if (last.sites[0] == NULL)
        return;
    int64_t away_ns = now_ns - last.returned_ns - (stall_total_ns() - last.stalled_ns);
    for (int i = 0; i < HALVES; i++) {
        policy_site_saw_away(last.sites[i], away_ns);
        last.sites[i] = last.passed[i] = NULL;
    }
}

void away_end(struct policy_site *site)
{
    if (!options.learn)
        return;
    if (last.began_ns == 0) {
        last.began_ns = base_clock_now_ns();
        away_tell(last.began_ns);
    }
    site_put(last.sites, site);
}

void away_note_pass(struct policy_site *site, uint32_t situation)
{
    last.situations[last.passed[0] != NULL] = situation;
    site_put(last.passed, site);
}

void away_begin(void)
{
    if (last.began_ns == 0)
        return;
    last.returned_ns = base_clock_now_ns();
    last.stalled_ns = stall_total_ns();
    for (int i = 0; i < HALVES; i++)
        policy_site_saw_pass(last.passed[i], last.situations[i], last.returned_ns - last.began_ns);
    last.began_ns = 0;
}
