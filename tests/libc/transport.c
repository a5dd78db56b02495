/* SPDX-License-Identifier: MIT */
/* A library that begins a thread of its own when it is loaded, as UCX does. */
#include <pthread.h>
#include <stddef.h>

static void *run(void *argument)
{
    return argument;
}

int transport_error;
__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    transport_error = pthread_create(&thread, NULL, run, NULL);
    if (transport_error == 0)
        pthread_join(thread, NULL);
}
