/* SPDX-License-Identifier: MIT */
/* Claim: threads that take the lock see each other's plain writes and lose none. */
#include <pthread.h>

#include "base/lock.h"
#include "claim.h"

enum { THREADS = 4, TURNS = 50000 };

static struct base_lock lock;
static long sum; /* not atomic: the lock alone must keep it right */

static void *adder_run(void *unused)
{
    (void)unused;
    for (int turn = 0; turn < TURNS; turn++) {
        base_lock_take(&lock);
        sum++;
        base_lock_release(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    claim(base_lock_try(&lock), "a free lock can be tried");
    claim(!base_lock_try(&lock), "a taken lock cannot");
    base_lock_release(&lock);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, adder_run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    claim(sum == (long)THREADS * TURNS, "no addition was lost");
    claim(base_lock_try(&lock), "the lock is free at the end");
    return 0;
}
