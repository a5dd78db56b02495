/* SPDX-License-Identifier: MIT */
/* A library that begins a thread of its own, as UCX does. */
#include <pthread.h>
#include <stddef.h>

static void *run(void *argument)
{
    return argument;
}

int transport_begin(void);
__attribute__((visibility("default"))) int transport_begin(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run, NULL);
    return error != 0 ? error : pthread_join(thread, NULL);
}
