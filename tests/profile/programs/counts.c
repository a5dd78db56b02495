/* SPDX-License-Identifier: MIT */
/* Claim: every call is counted once, with the bytes of its message, whatever moved it.
 * ranks: 2
 * expect: MPI_Send 10 160000
 * expect: MPI_Recv 11 160000
 * expect: MPI_Isend 6 2400
 * expect: MPI_Irecv 6 4800
 * expect: MPI_Waitall 6 7200
 * expect: MPI_Sendrecv 4 8000
 * expect: MPI_Allreduce 6 48
 * expect: MPI_Bcast 2 800
 * expect: MPI_Alltoall 2 64
 * expect: MPI_Gatherv 2 20
 * expect: MPI_Barrier 4 0
 * expect: MPI_Send_init 1 40
 * expect: MPI_Recv_init 1 40
 * expect: MPI_Start 6 240
 * expect: MPI_Wait 8 240
 * expect: MPI_Get_count 10 0
 */
#include <mpi.h>

static double data[2][2000];
static double large[3000];

/* A receive's size is what came, not what there was room for; one has nobody to receive from. */
static void send_and_receive(int rank)
{
    MPI_Status status;
    int count;
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(data[0], 2000, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
        else
            MPI_Recv(large, 3000, MPI_DOUBLE, i % 3 == 0 ? MPI_ANY_SOURCE : 0, i, MPI_COMM_WORLD,
                     i % 2 == 0 ? MPI_STATUS_IGNORE : &status);
    }
    if (rank == 1)
        MPI_Recv(data[1], 1000, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    for (int i = 0; rank == 1 && i < 10; i++)
        MPI_Get_count(&status, MPI_DOUBLE, &count);
}

/* A start's size is that of its buffer. */
static void start_and_wait(int peer)
{
    for (int i = 0; i < 3; i++) {
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(data[1], 200, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(data[0], 100, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
}

static void exchange(int peer)
{
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv(data[0], 2000, MPI_CHAR, peer, 0, data[1], 4000, MPI_CHAR, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void collectives(int rank)
{
    int counts[2] = {1, 2};
    int places[2] = {0, 1};
    int values[4] = {0};
    double sum = 1;
    double total;
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(data, 100, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoall(data[0], 4, MPI_INT, data[1], 4, MPI_INT, MPI_COMM_WORLD);
    /* The root sends one and receives three; the other one sends two. */
    MPI_Gatherv(values, counts[rank], MPI_INT, data[0], counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent(int rank)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Send_init(data[0], 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(data[1], 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* inactive: no message ends */
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    send_and_receive(rank);
    start_and_wait(1 - rank);
    exchange(1 - rank);
    collectives(rank);
    persistent(rank);
    MPI_Finalize();
    return 0;
}
