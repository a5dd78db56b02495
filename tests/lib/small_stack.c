/* SPDX-License-Identifier: MIT */
/* Claim: a thread with the smallest stack that libc allows runs with the preload as without. libc takes every
 * library's static thread-local memory from that stack. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Nearly all that libc's own thread-local memory and the kernel leave of the stack, as stock programs may use it. */
enum { USED_BYTES = 10240 };

static void *run(void *argument)
{
    volatile char used[USED_BYTES];
    memset((char *)used, 1, sizeof used);
    return argument;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) != 0) {
        puts("skip: the smallest stack is refused");
        return 77;
    }
    int error = pthread_create(&thread, &attributes, run, NULL);
    if (error == 0)
        error = pthread_join(thread, NULL);
    printf("a stack of %ld bytes: %s\n", (long)PTHREAD_STACK_MIN, error == 0 ? "ok" : strerror(error));
    return error != 0;
}
