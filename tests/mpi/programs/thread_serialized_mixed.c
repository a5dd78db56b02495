/* SPDX-License-Identifier: MIT */
/* Claim: receives still return early after one thread has begun small nonblocking messages, and another completed
 * them in every way, or given them up. (By full userfaultfd: elsewhere no page is shared once there are threads.)
 * variants: userfaultfd userfaultfd-1
 * defers: receive
 * environment: LAPWING_MATCH=off */
#include <pthread.h>

#include "check.h"

enum { COUNT = 6, ROUNDS = 50, TIMES = 3 };

static unsigned char raw[CHECK_LARGE_BYTES + 3 * 4096];
static int in[COUNT];
static int out[COUNT];
static MPI_Request requests[2 * COUNT];

static void begin(void)
{
    int peer = 1 - check_rank();
    for (int i = 0; i < COUNT; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[COUNT + i]);
    }
}

static void *complete(void *unused)
{
    int index;
    int flag = 0;
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[COUNT]);
    for (flag = 0; !flag;)
        MPI_Testall(2, requests + 2, &flag, MPI_STATUSES_IGNORE);
    do
        MPI_Waitany(2 * COUNT, requests, &index, MPI_STATUS_IGNORE);
    while (index != MPI_UNDEFINED);
    return unused;
}

static void small_round(void)
{
    pthread_t thread;
    begin();
    check(pthread_create(&thread, NULL, complete, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
}

static void large_exchange(unsigned char *buffer, int tag)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, tag);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, tag);
    }
}

int main(int argc, char **argv)
{
    int provided;
    unsigned char *buffer = raw + 4096 - (size_t)raw % 4096 + 100;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED) {
        puts("skip: no MPI_THREAD_SERIALIZED");
        MPI_Finalize();
        return 77;
    }
    for (int round = 0; round < ROUNDS; round++)
        small_round();
    for (int i = 0; i < TIMES; i++)
        large_exchange(buffer, i);
    return check_end();
}
