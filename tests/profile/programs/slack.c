/* SPDX-License-Identifier: MIT */
/* Claim: the slack of a receive and of a send is the time to the first touch, and that of a wait the time from
 * the start. Prints what the program itself measured: the least and the most of all steps, since only some are
 * sampled and a busy machine makes some longer.
 * ranks: 2
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 16, STEPS = 12 };

static volatile double sink;

/* Work that touches nothing; returns how long it took. */
static double work(double limit_s)
{
    double begin_s = MPI_Wtime();
    while (MPI_Wtime() - begin_s < limit_s)
        for (int i = 0; i < 1000; i++)
            sink = sink + i;
    return MPI_Wtime() - begin_s;
}

static double step_blocking(int rank, double *buffer)
{
    if (rank == 0)
        MPI_Send(buffer, COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); /* SEND */
    else
        MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* RECEIVE */
    double worked_s = work(0.005);
    if (rank == 0)
        buffer[COUNT / 2] = 1; /* WRITTEN */
    else
        sink = buffer[COUNT / 3]; /* READ */
    return worked_s;
}

static double step_nonblocking(int rank, double *buffer)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Isend(buffer, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(buffer, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
    double worked_s = work(0.003);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* WAIT */
    return worked_s;
}

struct extremes {
    double least_s;
    double most_s;
};

static void note(struct extremes *extremes, double time_s)
{
    extremes->least_s = extremes->most_s == 0 || time_s < extremes->least_s ? time_s : extremes->least_s;
    extremes->most_s = time_s > extremes->most_s ? time_s : extremes->most_s;
}

int main(int argc, char **argv)
{
    int rank;
    struct extremes blocking = {0};
    struct extremes nonblocking = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *buffer = malloc(COUNT * sizeof *buffer);
    memset(buffer, 0, COUNT * sizeof *buffer);
    for (int i = 0; i < STEPS; i++) {
        note(&blocking, step_blocking(rank, buffer));
        note(&nonblocking, step_nonblocking(rank, buffer));
    }
    printf("%d %.0f %.0f %.0f %.0f\n", rank, 1e9 * blocking.least_s, 1e9 * blocking.most_s, 1e9 * nonblocking.least_s,
           1e9 * nonblocking.most_s);
    free(buffer);
    MPI_Finalize();
    return 0;
}
