/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE a small message waits for the large one that it is a part of, which another thread
 * has received; and small ones between them, while nothing is under way, arrive as well.
 * flags: -pthread
 * defers: receive
 * environment: LAPWING_LEARN=off LAPWING_MATCH=off
 * quick: openmpi4 mpich4
 * timeout: 30 */
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

enum { ROUNDS = 12, LENGTH = 1 << 20, PART = 64, PART_AT = LENGTH / 2, SMALL = 20, TAG_LARGE = 1, TAG_PART, TAG_SMALL };

static unsigned char *received;
static MPI_Comm comm;
static sem_t is_received, is_handed_on;

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

static void *thread_receive(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Recv(received, LENGTH, MPI_BYTE, 1, TAG_LARGE, comm, MPI_STATUS_IGNORE);
        sem_post(&is_received);
        wait_for(&is_handed_on);
    }
    return unused;
}

static void rank_hand_on(void)
{
    pthread_t thread;
    received = check_buffer_new(LENGTH);
    sem_init(&is_received, 0, 0);
    sem_init(&is_handed_on, 0, 0);
    pthread_create(&thread, NULL, thread_receive, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SMALL; i++)
            MPI_Send(&i, 1, MPI_INT, 1, TAG_SMALL, comm);
        wait_for(&is_received);
        MPI_Send(received + PART_AT, PART, MPI_BYTE, 1, TAG_PART, comm);
        sem_post(&is_handed_on);
    }
    pthread_join(thread, NULL);
}

static void rank_send(void)
{
    unsigned char part[PART], *buffer = check_buffer_new(LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        int number = -1;
        for (int i = 0; i < SMALL; i++) {
            MPI_Recv(&number, 1, MPI_INT, 0, TAG_SMALL, comm, MPI_STATUS_IGNORE);
            check(number == i, "the small ones arrived");
        }
        check_fill(buffer, LENGTH, (unsigned)round);
        MPI_Send(buffer, LENGTH, MPI_BYTE, 0, TAG_LARGE, comm);
        MPI_Recv(part, PART, MPI_BYTE, 0, TAG_PART, comm, MPI_STATUS_IGNORE);
        check(memcmp(part, buffer + PART_AT, PART) == 0, "the part came as it was sent");
    }
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check_rank() == 0)
        rank_hand_on();
    else if (check_rank() == 1)
        rank_send();
    MPI_Comm_free(&comm);
    return check_end();
}
