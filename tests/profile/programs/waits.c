/* SPDX-License-Identifier: MIT */
/* Claim: what ranks wait for is told apart, in a program whose argument is the cause: progress that nobody made, a
 * sender that has not called yet, a receiver that is late. Prints what a message takes when both ends are ready.
 * ranks: 2
 * arguments: progress sender receiver
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8 << 20, READY_STEPS = 5, STEPS = 12 };

static volatile double sink;

static void work(double limit_s)
{
    double begin_s = MPI_Wtime();
    while (MPI_Wtime() - begin_s < limit_s)
        for (int i = 0; i < 1000; i++)
            sink = sink + i;
}

static void step_progress(int rank, char *out, char *in)
{
    MPI_Request requests[2];
    MPI_Irecv(in, LENGTH_BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, LENGTH_BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    work(0.02);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void step_message(int rank, char *out, char *in, int late_rank)
{
    work(rank == late_rank ? 0.02 : 0.001);
    if (rank == 0)
        MPI_Send(out, LENGTH_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(in, LENGTH_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The least of some exchanges that both ranks begin together. */
static double measure_exchange_s(int rank, char *out, char *in)
{
    double least_s = 1e9;
    for (int i = 0; i < READY_STEPS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin_s = MPI_Wtime();
        MPI_Sendrecv(out, LENGTH_BYTES, MPI_BYTE, 1 - rank, 1, in, LENGTH_BYTES, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        double took_s = MPI_Wtime() - begin_s;
        least_s = took_s < least_s ? took_s : least_s;
    }
    return least_s;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *out = malloc(LENGTH_BYTES), *in = malloc(LENGTH_BYTES);
    memset(out, 1, LENGTH_BYTES);
    memset(in, 2, LENGTH_BYTES);
    double exchange_s = measure_exchange_s(rank, out, in);
    for (int i = 0; i < STEPS; i++) {
        if (strcmp(argv[1], "progress") == 0)
            step_progress(rank, out, in);
        else
            step_message(rank, out, in, strcmp(argv[1], "receiver") == 0);
    }
    if (rank == 0)
        printf("%d %.0f\n", LENGTH_BYTES, exchange_s * 1e9);
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
