/* SPDX-License-Identifier: MIT */
/* Claim: a thread may use the rest of the heap block in which another thread receives, even when the sender waits
 * for it first.
 * flags: -pthread
 * passes: memory_neighbours
 * environment: LAPWING_MATCH=off */
#include <pthread.h>

#include "check.h"

static struct {
    unsigned char message[100000];
    volatile int counter;
} * block;

static void *thread_receive(void *comm)
{
    MPI_Recv(block->message, sizeof block->message, MPI_BYTE, 1, 5, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    check(check_is_filled(block->message, sizeof block->message, 7), "the message arrived");
    return NULL;
}

static void rank_receive(MPI_Comm comm)
{
    pthread_t thread;
    block = malloc(sizeof *block);
    block->counter = 1;
    pthread_create(&thread, NULL, thread_receive, &comm);
    check_delay(); /* the receive has begun */
    block->counter++;
    check_send((void *)&block->counter, sizeof block->counter, 1, 6);
    pthread_join(thread, NULL);
    check(block->counter == 2, "the counter behind the message");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int counter = 0;
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check_rank() == 0) {
        rank_receive(comm);
    } else {
        unsigned char *buffer = check_buffer_new(sizeof block->message);
        check_fill(buffer, sizeof block->message, 7);
        check_recv(&counter, sizeof counter, 0, 6);
        MPI_Send(buffer, sizeof block->message, MPI_BYTE, 0, 5, comm);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
