/* SPDX-License-Identifier: MIT */
/* Claim: what one thread receives does not hold up another thread's barrier, which the sender may wait for first.
 * flags: -pthread
 * environment: LAPWING_MATCH=off */
#include <pthread.h>

#include "check.h"

enum { LENGTH = 1 << 19 };

static unsigned char *buffer;

static void *thread_receive(void *comm)
{
    MPI_Recv(buffer, LENGTH, MPI_BYTE, 1, 5, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, LENGTH, 7), "the message arrived");
    return NULL;
}

static void rank_receive(MPI_Comm comm)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_receive, &comm);
    check_delay(); /* the receive has begun */
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    buffer = check_buffer_new(LENGTH);
    if (check_rank() == 0) {
        rank_receive(comm);
    } else {
        check_fill(buffer, LENGTH, 7);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(buffer, LENGTH, MPI_BYTE, 0, 5, comm);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
