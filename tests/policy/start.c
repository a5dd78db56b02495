/* SPDX-License-Identifier: MIT */
/* Claim: a receive whose start takes as long as its data take to come is left to the engine, where that has a core, and
 * one whose start only asks for them is not. */
#include <stdio.h>

#include "../base/claim.h"
#include "policy/policy.h"

enum { BRINGS_NS = 3000000, ASKS_NS = 2000, STARTS = 16 };

static bool start_is_never_dear(void)
{
    return false;
}

static bool start_is_always_dear(void)
{
    return true;
}

static struct policy_answer start_ask(int number, bool (*is_engine_dear)(void))
{
    static char places[4];
    return policy_ask(&(struct policy_call){
        .place = &places[number], .direction = POLICY_RECEIVE, .bytes = 1 << 24, .is_engine_dear = is_engine_dear});
}

static void start_see(int number, int64_t start_ns)
{
    for (int i = 0; i < STARTS; i++)
        policy_site_saw_start(start_ask(number, start_is_never_dear).site, start_ns);
}

int main(void)
{
    policy_configure(false, OPTION_SEND_BUFFERS_AUTO);
    claim(!start_ask(0, start_is_never_dear).starts_apart, "nothing is known yet");
    start_see(0, BRINGS_NS);
    claim(start_ask(0, start_is_never_dear).starts_apart, "the start brings the data");
    claim(!start_ask(0, start_is_always_dear).starts_apart, "the engine would take the program's core for it");
    start_see(0, ASKS_NS);
    claim(!start_ask(0, start_is_never_dear).starts_apart, "it does so no longer");
    start_see(1, ASKS_NS);
    claim(!start_ask(1, start_is_never_dear).starts_apart, "the start only asks");
    return 0;
}
