/* SPDX-License-Identifier: MIT */
/* Claim: a site that brings nothing is passed, and looked at again now and then; what a place's small data teach says
 * nothing of its large ones; a nonblocking operation's site expects what it saw last time; threads share the table. */
#include <pthread.h>

#include "../base/claim.h"
#include "policy/policy.h"

enum {
    THREADS = 4,
    ROUNDS = 20000,
    ADDRESSES = 3000,
    COST_NS = 1000,
    TRANSFER_NS = 10 * COST_NS,
    MANY = 100000,
    LONG_NS = 1000000000
};

static const struct policy_outcome nothing = {.cost_ns = COST_NS, .transfer_ns = TRANSFER_NS};
static const struct policy_outcome much = {
    .overlapped_ns = TRANSFER_NS, .cost_ns = COST_NS, .transfer_ns = TRANSFER_NS};

static struct policy_site *site_of(uintptr_t address, enum policy_direction direction)
{
    return policy_site_find((const void *)(address * 16), direction, 1 << 20);
}

/* How many calls are passed before the next look. */
static int pause_length(struct policy_site *site)
{
    int length = 0;
    for (; length < MANY && !policy_site_allows(site, 0); length++)
        policy_site_saw_pass(site, 0, TRANSFER_NS);
    return length;
}

static void pauses_check(void)
{
    struct policy_site *site = site_of(1, POLICY_SEND);
    for (int i = 0; i < 10; i++) {
        int length = pause_length(site);
        claim(i < 3 || length >= 50, "looks are rare");
        claim(length < 1000, "but it is looked at again");
        policy_site_learn(site, 0, nothing);
    }
    pause_length(site);
    policy_site_learn(site, 0, much);
    claim(pause_length(site) == 0, "one call that pays ends it");
    claim(site != site_of(1, POLICY_RECEIVE), "directions are told apart");
}

static struct policy_site *site_of_size(uint64_t bytes)
{
    return policy_site_find(site_of_size, POLICY_RECEIVE, bytes);
}

/* IMB-NBC begins with empty collectives, which teach nothing about those of 1 MiB. */
static void sites_check_sizes(void)
{
    for (int i = 0; i < 30; i++)
        policy_site_learn(site_of_size(0), 0, nothing);
    claim(!policy_site_allows(site_of_size(0), 0), "the small ones are passed");
    claim(policy_site_allows(site_of_size(1 << 20), 0), "the large ones are tried");
    claim(site_of_size(1 << 20) == site_of_size((1 << 20) - 1), "sizes that differ little are one site");
    claim(site_of_size(UINT64_MAX) != site_of_size(1), "any size has a site");
}

static void see_operation(struct policy_site *site, int64_t slack_ns)
{
    policy_site_saw_slack(site, policy_site_situation(site, NULL, 0), slack_ns, COST_NS);
}

static bool is_expected(struct policy_site *site)
{
    return policy_site_helps(site, policy_site_situation(site, NULL, 0));
}

static void sites_check_expected(void)
{
    struct policy_site *site = site_of(2, POLICY_NONBLOCKING);
    claim(is_expected(site), "nothing is known: try");
    for (int phase = 0; phase < 10; phase++) {
        see_operation(site, 0);
        claim(!is_expected(site), "one that is waited for at once is enough to expect no slack");
        for (int i = 0; i < 100; i++)
            see_operation(site, 0);
        claim(!is_expected(site), "and so it stays");
        see_operation(site, LONG_NS);
        claim(is_expected(site), "one with slack is enough to expect some");
        for (int i = 0; i < 100; i++)
            see_operation(site, LONG_NS);
        claim(is_expected(site), "and so it stays");
    }
}

static void *thread_run(void *number)
{
    uintptr_t state = (uintptr_t)number;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        struct policy_site *site = site_of(10 + (state >> 33) % ADDRESSES, (state >> 20) % 2);
        uint32_t situation = policy_site_situation(site, (const void *)state, (int)i);
        policy_site_allows(site, situation);
        policy_site_learn(
            site, situation,
            (struct policy_outcome){(int64_t)(state >> 40), (int64_t)(state >> 45), i, i / 2, i % 2 == 0});
        policy_site_saw_away(site, (int64_t)(state >> 30));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    policy_configure(true, OPTION_SEND_BUFFERS_AUTO);
    pauses_check();
    sites_check_sizes();
    sites_check_expected();
    for (uintptr_t i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, (void *)(i + 1)) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    claim(policy_site_allows(NULL, policy_site_situation(NULL, NULL, 0)), "a full table allows");
    policy_configure(false, OPTION_SEND_BUFFERS_AUTO);
    claim(policy_site_allows(site_of_size(0), 0), "without learning every call is allowed");
    return 0;
}
