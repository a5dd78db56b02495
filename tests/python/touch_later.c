/* SPDX-License-Identifier: MIT */
/* For test_advise_run.py: blocking messages whose buffers are touched a while later, at marked lines.
 *     touch_later [STEPS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 16 };

static volatile double sink;

static void work(double limit_s)
{
    double begin_s = MPI_Wtime();
    while (MPI_Wtime() - begin_s < limit_s)
        for (int i = 0; i < 1000; i++)
            sink = sink + i;
}

static void step(int rank, double *buffer)
{
    if (rank == 0)
        MPI_Send(buffer, COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(buffer, COUNT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL */
    work(0.004);
    if (rank == 0)
        buffer[COUNT / 2] = 1;
    else
        sink = buffer[COUNT / 3]; /* TOUCH */
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *buffer = calloc(COUNT, sizeof *buffer);
    for (int i = argc > 1 ? atoi(argv[1]) : 60; i > 0 && buffer != NULL; i--)
        step(rank, buffer);
    if (rank == 0)
        puts("the program's own words");
    free(buffer);
    MPI_Finalize();
    return 0;
}
