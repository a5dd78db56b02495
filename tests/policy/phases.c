/* SPDX-License-Identifier: MIT */
/* Claim: a program that changes phase, from messages alone to messages beside work and back, is followed within two
 * calls in both directions, however long the phases were, and so are waits that become long; a hold that costs less
 * than a hundredth of its transfer is never given up. */
#include "model.h"

enum { PHASES = 20, HOLD_NS = 50000, TRANSFER_NS = 5 * HOLD_NS, WORK_NS = 20000000, ALONE_NS = 5000 };
enum { LEFT_AFTER = 2 };

static const struct model_call alone = {.transfer_ns = TRANSFER_NS, .hold_ns = HOLD_NS, .away_ns = ALONE_NS};
static const struct model_call beside = {
    .transfer_ns = TRANSFER_NS, .hold_ns = HOLD_NS, .slack_ns = WORK_NS, .away_ns = WORK_NS};

/* How many calls from the third on are treated against the phase. */
static long phase_wrong(struct policy_site *site, const struct model_call *call, long length, struct model_totals *sums)
{
    long wrong = 0;
    for (long i = 0; i < length; i++) {
        bool is_wrong = model_run(site, call, sums) != (call->slack_ns != 0);
        wrong += is_wrong && i >= LEFT_AFTER;
    }
    return wrong;
}

static void phases_check(uintptr_t number, long length)
{
    struct policy_site *site = model_site(number);
    struct model_totals sums = {0};
    phase_wrong(site, &alone, length, &sums); /* the first of all: nothing is known yet */
    for (int i = 0; i < PHASES; i++) {
        claim(phase_wrong(site, &beside, length, &sums) == 0, "beside work it is deferred from the third call on");
        long looks = phase_wrong(site, &alone, length, &sums);
        claim(looks <= length / 200 + 1, "alone it is passed from the third call on, but for a look now and then");
    }
}

static void cheap_hold_stays(void)
{
    struct policy_site *site = model_site(50);
    struct model_totals sums = {0};
    struct model_call call = {.transfer_ns = 101 * HOLD_NS, .hold_ns = HOLD_NS, .away_ns = ALONE_NS};
    for (int i = 0; i < 20000; i++)
        claim(model_run(site, &call, &sums), "a hold of less than a hundredth of its transfer is never given up");
}

/* What a passed call takes shows that holding it has become worth it. */
static void transfer_grows(void)
{
    struct policy_site *site = model_site(51);
    struct model_totals sums = {0};
    struct model_call call = {.transfer_ns = HOLD_NS, .hold_ns = HOLD_NS, .away_ns = ALONE_NS};
    for (int i = 0; i < 5000; i++)
        model_run(site, &call, &sums);
    call.transfer_ns = 800 * HOLD_NS;
    model_run(site, &call, &sums);
    model_run(site, &call, &sums);
    claim(model_run(site, &call, &sums), "the network has become slow: deferred from the third call on");
}

/* Several are waited for together, so that none is cheap beside its own transfer. */
static bool passed_until_long(struct policy_site *site, int64_t long_ns)
{
    enum { SHORT = 100 };
    for (int i = 0; i < SHORT; i++)
        policy_site_saw_pass(site, 0, 1);
    for (int i = 0; i < LEFT_AFTER; i++)
        policy_site_saw_pass(site, 0, long_ns);
    return policy_site_helps(site, 0);
}

static void learn_in_vain(struct policy_site *site)
{
    policy_site_learn(site, 0, (struct policy_outcome){.cost_ns = HOLD_NS, .transfer_ns = HOLD_NS});
}

/* Waits that have become long are looked into at once, until that has brought nothing. */
static void waits_grow(void)
{
    enum { LONG_NS = 100 * HOLD_NS, TIMES = 200 };
    struct policy_site *site = model_site(52);
    for (int i = 0; i < TIMES; i++)
        learn_in_vain(site);
    claim(!policy_site_helps(site, 0), "holding has brought nothing");
    claim(passed_until_long(site, LONG_NS), "waits have become long: looked into from the third call on");
    int looks = 0;
    for (int i = 0; i < TIMES; i++) {
        if (policy_site_helps(site, 0)) {
            learn_in_vain(site);
            looks++;
        }
        passed_until_long(site, LONG_NS);
    }
    /* What the long waits earn, and a quarter of it lent. */
    claim(looks <= TIMES * LEFT_AFTER * LONG_NS / 500 / (2 * HOLD_NS) * 5 / 4 + 1, "each look is earned");
}

/* Nothing is lent where they always were. */
static void waits_stay_long(void)
{
    enum { LONG_NS = 100 * HOLD_NS, LOOKS_FIRST = 3, BETWEEN = 10 };
    struct policy_site *site = model_site(53);
    policy_site_saw_pass(site, 0, LONG_NS);
    for (int i = 0; i < LOOKS_FIRST; i++)
        learn_in_vain(site);
    for (int i = 0; i < BETWEEN - 1; i++) {
        claim(!policy_site_helps(site, 0), "a look is earned by ten such waits");
        policy_site_saw_pass(site, 0, LONG_NS);
    }
}

int main(void)
{
    policy_configure(true, OPTION_SEND_BUFFERS_AUTO);
    phases_check(1, 10);
    phases_check(2, 300);
    phases_check(3, 20000);
    cheap_hold_stays();
    transfer_grows();
    waits_grow();
    waits_stay_long();
    return 0;
}
