/* SPDX-License-Identifier: MIT */
/* Claim: an op brings no more than a call that waits takes. On shared memory nothing wakes the engine, and an op is
 * under way for as long as the engine sleeps between two looks: were that a gain, messages that take 15 us would be
 * deferred for ever. Where calls that wait take as long as the ops, what pays is kept. The same for nonblocking
 * operations. */
#include "model.h"

enum { CALLS = 10000, HOLD_NS = 20000, UNDER_WAY_NS = 250000 };

/* How many of the calls were deferred. */
static long late_engine_run(uintptr_t number, int64_t waiting_ns)
{
    struct policy_site *site = model_site(number);
    long deferred = 0;
    for (int i = 0; i < CALLS; i++) {
        bool is_deferred = policy_site_allows(site, 0);
        deferred += is_deferred;
        if (is_deferred)
            policy_site_learn(site, 0, (struct policy_outcome){UNDER_WAY_NS, HOLD_NS, UNDER_WAY_NS, 0, true});
        else
            policy_site_saw_pass(site, 0, waiting_ns);
    }
    return deferred;
}

/* Does a call of 1 MiB look for a late peer, after one that waited for so long? */
static bool late_engine_looks(uintptr_t number, int64_t waiting_ns)
{
    struct policy_site *site = model_site(number);
    if (policy_site_saw_late_peer(site, 0, 1 << 20))
        return true;
    policy_site_saw_pass(site, 0, waiting_ns);
    return policy_site_saw_late_peer(site, 0, 1 << 20);
}

/* How many of the nonblocking operations were helped. Help saves all waiting, and makes the work beside it longer. */
static long late_engine_help(uintptr_t number, int64_t waiting_ns, int64_t longer_ns)
{
    struct policy_site *site = model_site(number);
    long helped = 0;
    for (int i = 0; i < CALLS; i++) {
        struct policy_help help = {policy_site_helps(site, 0), UNDER_WAY_NS, waiting_ns, HOLD_NS};
        helped += help.is_helped;
        help.slack_ns += help.is_helped ? longer_ns : 0;
        help.waited_ns = help.is_helped ? 0 : waiting_ns;
        policy_site_saw_help(site, 0, help);
    }
    return helped;
}

int main(void)
{
    policy_configure(true, OPTION_SEND_BUFFERS_AUTO);
    claim(late_engine_help(2, 40000, 150000) * 100 <= CALLS, "help that takes more than it saves is given up");
    claim(late_engine_help(3, 200000, 50000) * 100 >= CALLS * 96, "help that saves four times what it takes stays");
    claim(late_engine_run(0, 15000) * 100 <= CALLS, "what only takes long since the engine looks late is passed");
    claim(late_engine_run(1, UNDER_WAY_NS) * 100 >= CALLS * 96, "what a call that waits takes is gained");
    claim(!late_engine_looks(4, 300000), "calls that take what copying takes wait for nobody");
    claim(late_engine_looks(5, 5000000), "after one call that waited for a late peer, the next may return early");
    return 0;
}
