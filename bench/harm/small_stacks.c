/* SPDX-License-Identifier: MIT */
/* Threads with the smallest stack that POSIX allows start and end: small_stacks [STEPS]. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, USED = 2048 };

static void *use_stack(void *argument)
{
    char bytes[USED];
    memset(bytes, 1, sizeof bytes);
    return ((volatile char *)bytes)[USED - 1] == 1 ? argument : NULL;
}

static int run_threads(const pthread_attr_t *attributes)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], attributes, use_stack, threads) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 4000;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int failed = pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
    for (long i = 0; i < steps && !failed; i++)
        failed = run_threads(&attributes);
    if (failed)
        fprintf(stderr, "a thread with a small stack cannot be made\n");
    return failed != 0;
}
