/* SPDX-License-Identifier: MIT */
/* Claim: a thread may free a communicator when another thread's collective on it has returned, and is under way.
 * ranks: 3
 * defers: collective
 * quick: openmpi4 mpich4 userfaultfd userfaultfd-user */
#include <pthread.h>
#include <stdint.h>

#include "check.h"

enum { COUNT = 1 << 20, ROUNDS = 8 };

static void *comm_free(void *comm)
{
    MPI_Comm_free(comm);
    return NULL;
}

static void turn(uint32_t round, uint32_t *sent, uint32_t *received)
{
    pthread_t thread;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (uint32_t i = 0; i < COUNT; i++)
        sent[i] = round + i;
    if (check_rank() == 2)
        check_delay();
    MPI_Reduce(sent, received, COUNT, MPI_UINT32_T, MPI_SUM, 0, comm);
    pthread_create(&thread, NULL, comm_free, &comm);
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < COUNT && check_rank() == 0; i++)
        check(received[i] == 3 * (round + i), "the sum");
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    uint32_t *sent = (uint32_t *)(void *)check_buffer_new(COUNT * sizeof(uint32_t));
    uint32_t *received = (uint32_t *)(void *)check_buffer_new(COUNT * sizeof(uint32_t));
    for (uint32_t round = 0; round < ROUNDS; round++)
        turn(round, sent, received);
    return check_end();
}
