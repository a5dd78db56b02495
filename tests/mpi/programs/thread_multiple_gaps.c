/* SPDX-License-Identifier: MIT */
/* Claim: a thread may use the gaps of what another thread receives, even when the sender waits for it first, also
 * where the message ends with its heap block.
 * flags: -pthread
 * passes: memory_neighbours
 * environment: LAPWING_MATCH=off */
#include <pthread.h>

#include "check.h"

enum { ROWS = 50, ROW = 2000, STRIDE = 3000, LENGTH = (ROWS - 1) * STRIDE + ROW };

static unsigned char *block;

static MPI_Datatype rows_type(void)
{
    MPI_Datatype type;
    MPI_Type_vector(ROWS, ROW, STRIDE, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void *thread_receive(void *comm)
{
    MPI_Datatype type = rows_type();
    MPI_Recv(block, 1, type, 1, 5, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    check(check_is_filled(block, ROW, 7), "the message arrived");
    MPI_Type_free(&type);
    return NULL;
}

static void rank_receive(MPI_Comm comm)
{
    pthread_t thread;
    block = check_buffer_new(LENGTH);
    volatile unsigned char *counter = block + ROW + 10;
    *counter = 1;
    pthread_create(&thread, NULL, thread_receive, &comm);
    check_delay(); /* the receive has begun */
    (*counter)++;
    check_send((void *)counter, 1, 1, 6);
    pthread_join(thread, NULL);
    check(*counter == 2, "the counter in the gap");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    char counter = 0;
    check_start_multiple(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check_rank() == 0) {
        rank_receive(comm);
    } else {
        unsigned char *buffer = check_buffer_new(ROWS * ROW);
        check_fill(buffer, ROWS * ROW, 7);
        check_recv(&counter, 1, 0, 6);
        MPI_Send(buffer, ROWS * ROW, MPI_BYTE, 0, 5, comm);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
