/* SPDX-License-Identifier: MIT */
/* A call site as the policy sees it, and what a program's calls cost there: a call that is passed takes its
 * transfer, one that is deferred takes its transfer less what was overlapped, and the price of holding. */
#ifndef TESTS_POLICY_MODEL_H
#define TESTS_POLICY_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/claim.h"
#include "policy/policy.h"

/* One call of the program. away_ns: until the thread's next call; slack_ns: until it touches the buffer. */
struct model_call {
    int64_t transfer_ns;
    int64_t hold_ns;
    int64_t slack_ns;
    int64_t away_ns;
    int64_t engine_ns; /* that the engine takes of the core */
    const void *buffer;
    int tag;
};

struct model_totals {
    int64_t transfer_ns; /* what passing every call takes */
    int64_t spent_ns;
    int64_t gained_ns;
    int64_t to_gain_ns;
    long deferred;
};

static inline struct policy_site *model_site(uintptr_t number)
{
    return policy_site_find((const void *)(0x400000 + number * 16), POLICY_RECEIVE, 1 << 20);
}

static inline int64_t model_gain_ns(const struct model_call *call)
{
    return call->slack_ns < call->transfer_ns ? call->slack_ns : call->transfer_ns;
}

/* In that time the engine had a part of the core. */
static inline int64_t model_engine_ns(const struct model_call *call)
{
    return call->engine_ns * model_gain_ns(call) / call->transfer_ns;
}

/* Was the call deferred? */
static inline bool model_run(struct policy_site *site, const struct model_call *call, struct model_totals *totals)
{
    uint32_t situation = policy_site_situation(site, call->buffer, call->tag);
    bool is_deferred = policy_site_allows(site, situation);
    int64_t gain_ns = model_gain_ns(call);
    totals->transfer_ns += call->transfer_ns;
    totals->to_gain_ns += gain_ns;
    totals->spent_ns += call->transfer_ns + (is_deferred ? call->hold_ns + model_engine_ns(call) - gain_ns : 0);
    totals->gained_ns += is_deferred ? gain_ns : 0;
    totals->deferred += is_deferred;
    if (is_deferred)
        policy_site_learn(site, situation,
                          (struct policy_outcome){gain_ns, call->hold_ns, call->transfer_ns, call->engine_ns, false});
    else
        policy_site_saw_pass(site, situation, call->transfer_ns);
    policy_site_saw_away(site, call->away_ns);
    return is_deferred;
}

/* The same numbers in every run, and on every machine. */
static inline uint64_t model_random(void)
{
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

static inline bool model_happens(int percent)
{
    return model_random() % 100 < (uint64_t)percent;
}

#endif
