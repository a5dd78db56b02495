/* SPDX-License-Identifier: MIT */
/* Claim: a site that brings nothing is passed for longer and longer, one that does is not; what a place's small data
 * teach says nothing of its large ones; threads share the table. */
#include <pthread.h>

#include "../base/claim.h"
#include "policy/policy.h"

enum { THREADS = 4, ROUNDS = 20000, ADDRESSES = 3000, PAUSE_LONGEST = 8192 };

static struct policy_site *site_of(uintptr_t address, enum policy_direction direction)
{
    return policy_site_find((const void *)(address * 16), direction, 1 << 20);
}

/* How many calls are passed before the next sample. */
static int pause_length(struct policy_site *site)
{
    int length = 0;
    while (!policy_site_allows(site))
        length++;
    return length;
}

static void pauses_check(void)
{
    struct policy_site *site = site_of(1, POLICY_SEND);
    int length = 0;
    for (int i = 0; i < 30; i++) {
        int next = pause_length(site);
        claim(next >= length || i < 3, "pauses grow");
        claim(next <= PAUSE_LONGEST, "but not for ever");
        length = next;
        policy_site_learn(site, 0, 1000);
    }
    policy_site_learn(site, 1000000, 1000);
    pause_length(site);
    claim(policy_site_allows(site), "a good sample ends it");
    claim(site != site_of(1, POLICY_RECEIVE), "directions are told apart");
}

static struct policy_site *site_of_size(uint64_t bytes)
{
    return policy_site_find(site_of_size, POLICY_NONBLOCKING, bytes);
}

/* IMB-NBC begins with empty collectives, which teach nothing about those of 1 MiB. */
static void sites_check_sizes(void)
{
    for (int i = 0; i < 30; i++)
        policy_site_learn(site_of_size(0), 0, 1000);
    claim(!policy_site_allows(site_of_size(0)), "the small ones are passed");
    claim(policy_site_allows(site_of_size(1 << 20)), "the large ones are tried");
    claim(site_of_size(1 << 20) == site_of_size((1 << 20) - 1), "sizes that differ little are one site");
    claim(site_of_size(UINT64_MAX) != site_of_size(1), "any size has a site");
}

static void *thread_run(void *number)
{
    uintptr_t state = (uintptr_t)number;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        struct policy_site *site = site_of(1 + (state >> 33) % ADDRESSES, (state >> 20) % 2);
        policy_site_allows(site);
        policy_site_learn(site, (int64_t)(state >> 40), (int64_t)(state >> 45));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    policy_configure(true, OPTION_SEND_BUFFERS_AUTO);
    pauses_check();
    sites_check_sizes();
    for (uintptr_t i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, (void *)(i + 1)) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    policy_configure(false, OPTION_SEND_BUFFERS_AUTO);
    claim(policy_site_allows(site_of(1, POLICY_SEND)), "without learning every call is allowed");
    return 0;
}
