/* SPDX-License-Identifier: MIT */
/* Claim: an array on another thread's stack is received into, while that thread
 * goes on using its stack. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

static unsigned char *_Atomic array;
static atomic_bool is_received;

static void *lend(void *unused)
{
    unsigned char local[200000];
    volatile unsigned long turns = 0;
    atomic_store(&array, local);
    while (!atomic_load(&is_received))
        turns++;
    check(check_is_filled(local, sizeof local, 5), "the array on the stack");
    return unused;
}

int main(int argc, char **argv)
{
    enum { LENGTH = 200000 };
    check_start(&argc, &argv);
    if (check_rank() == 1) {
        unsigned char *buffer = check_buffer_new(LENGTH);
        check_send_late(buffer, LENGTH, 5, 0, 0);
        return check_end();
    }
    pthread_t thread;
    pthread_create(&thread, NULL, lend, NULL);
    while (atomic_load(&array) == NULL)
        ;
    check_recv(atomic_load(&array), LENGTH, 1, 0);
    atomic_store(&is_received, true);
    pthread_join(thread, NULL);
    return check_end();
}
