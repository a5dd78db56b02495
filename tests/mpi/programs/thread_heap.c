/* SPDX-License-Identifier: MIT */
/* Claim: where addresses are limited (RLIMIT_AS, ulimit -v), a thread that allocates nothing takes those of its stack
 * and no more: glibc would take 128 MiB for a heap of the thread's own.
 * arguments: posix c11
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <threads.h>
#include <unistd.h>

#include "check.h"

enum { MIB = 1 << 20, THREADS = 4, MOST_BYTES = 48 * MIB };

static _Atomic int begun;
static _Atomic bool may_end;

static void stay(void)
{
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&may_end))
        usleep(1000);
}

static void *run_posix(void *unused)
{
    stay();
    return unused;
}

static int run_c11(void *unused)
{
    (void)unused;
    stay();
    return 0;
}

static void play_posix(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, run_posix, NULL) == 0, "a thread begins");
    while (atomic_load(&begun) < THREADS)
        usleep(1000);
}

static void play_c11(void)
{
    thrd_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        check(thrd_create(&threads[i], run_c11, NULL) == thrd_success, "a thread begins");
    while (atomic_load(&begun) < THREADS)
        usleep(1000);
}

int main(int argc, char **argv)
{
    check(setrlimit(RLIMIT_STACK, &(struct rlimit){8 * MIB, RLIM_INFINITY}) == 0, "a stack of 8 MiB");
    check_start(&argc, &argv);
    unsigned long before_bytes = check_addresses_bytes();
    check(setrlimit(RLIMIT_AS, &(struct rlimit){before_bytes + 1024UL * MIB, RLIM_INFINITY}) == 0, "setrlimit()");
    bool is_c11 = argc > 1 && strcmp(argv[1], "c11") == 0;
    (is_c11 ? play_c11 : play_posix)();
    check(check_addresses_bytes() - before_bytes < MOST_BYTES, "four threads take their stacks");
    atomic_store(&may_end, true);
    return check_end();
}
