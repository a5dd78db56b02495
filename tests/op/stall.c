/* SPDX-License-Identifier: MIT */
/* Claim: stalls of two threads, of which one begins where the other's ends, add up to no more than the time that has
 * passed. */
#include <pthread.h>
#include <stddef.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "op/stall.h"

enum { STALLS = 20000000 };

static void *stalls_go(void *unused)
{
    for (int i = 0; i < STALLS; i++) {
        stall_begin();
        stall_end();
    }
    return unused;
}

int main(void)
{
    pthread_t other;
    int64_t begin_ns = base_clock_now_ns();
    claim(pthread_create(&other, NULL, stalls_go, NULL) == 0, "a thread can be started");
    stalls_go(NULL);
    pthread_join(other, NULL);
    claim(stall_total_ns() <= base_clock_now_ns() - begin_ns, "no stall is longer than the program ran");
    return 0;
}
