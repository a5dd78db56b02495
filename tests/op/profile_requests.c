/* SPDX-License-Identifier: MIT */
/* Claim: requests that share a handle, begun and ended by several threads, each end once. (MPICH gives the same handle
 * to all sends that were over at once.) */
#include <pthread.h>

#include "../base/claim.h"
#include "profile/profile.h"

enum { THREADS = 4, ROUNDS = 1000000, KEY = 0x2c000001 };

_Thread_local struct profile_thread profile_thread;

static _Atomic int ended;

static void end_one(void)
{
    struct profile_completion completion = {0};
    profile_request_end(KEY, &completion);
    claim(completion.bytes == (uint64_t)completion.count, "each had one byte");
    atomic_fetch_add(&ended, completion.count);
}

static void *thread_run(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        profile_request_start(KEY, 1);
        end_one();
    }
    return unused;
}

int main(void)
{
    static struct profile_format_header header;
    pthread_t threads[THREADS];
    profile_file.header = &header;
    for (int i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, NULL) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        end_one(); /* one that its thread did not find: another was put behind it meanwhile */
    claim(header.lost_requests == 0, "there is room for all");
    claim(ended == THREADS * ROUNDS, "as many ended as began");
    claim(profile_requests_active() == 0, "none is under way");
    return 0;
}
