/* SPDX-License-Identifier: MIT */
/* Claim: a site that brings nothing is passed for longer and longer, one that does is not; threads share the table. */
#include <pthread.h>

#include "../base/claim.h"
#include "policy/policy.h"

enum { THREADS = 4, ROUNDS = 20000, ADDRESSES = 3000, PAUSE_LONGEST = 8192 };

static struct policy_site *site_of(uintptr_t address, enum policy_direction direction)
{
    return policy_site_find((const void *)(address * 16), direction);
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
    policy_configure(true);
    pauses_check();
    for (uintptr_t i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, (void *)(i + 1)) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    policy_configure(false);
    claim(policy_site_allows(site_of(1, POLICY_SEND)), "without learning every call is allowed");
    return 0;
}
