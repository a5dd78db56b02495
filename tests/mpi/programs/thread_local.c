/* SPDX-License-Identifier: MIT */
/* Claim: a thread-local array is sent and received, from its own thread and from another one.
 * flags: -pthread
 * defers: send
 * passes: memory_stack
 * quick: openmpi4 */
#include <pthread.h>

#include "check.h"

enum { LENGTH = 300000 };

static __thread unsigned char own[LENGTH];

struct exchange {
    unsigned char *array;
    unsigned seed;
};

static void *send_and_receive(void *given)
{
    const struct exchange *exchange = given;
    check_fill(exchange->array, LENGTH, exchange->seed);
    check_send(exchange->array, LENGTH, 1, 0);
    check_fill(exchange->array, LENGTH, 0); /* the message has left */
    check_recv(exchange->array, LENGTH, 1, 1);
    check(check_is_filled(exchange->array, LENGTH, exchange->seed), "the message came back");
    return NULL;
}

static void send_back(void)
{
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (unsigned seed = 1; seed <= 2; seed++) {
        check_delay();
        check_recv(buffer, LENGTH, 0, 0);
        check_delay();
        check(check_is_filled(buffer, LENGTH, seed), "the message as it was sent");
        check_send(buffer, LENGTH, 0, 1);
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    check_start(&argc, &argv);
    if (check_rank() == 0) {
        send_and_receive(&(struct exchange){own, 1});
        /* The first thread's array, used by a second one. */
        pthread_create(&thread, NULL, send_and_receive, &(struct exchange){own, 2});
        pthread_join(thread, NULL);
    } else {
        send_back();
    }
    return check_end();
}
