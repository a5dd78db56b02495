/* SPDX-License-Identifier: MIT */
/* A wavefront as in NPB LU: receive 200 to 2000 bytes from the left, compute a little, send to the right; and back.
 *     pipeline [STEPS] */
#include <mpi.h>
#include <stdlib.h>

#include "report_ranks.h"

enum { VALUES_LEAST = 25, VALUES_MOST = 250, VALUES_STEP = 25, TAG = 1 };

static void compute(double *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = values[i] * 0.999 + 0.001 / (1.0 + values[i] * values[i]);
}

static void sweep(double *values, int count, int from, int to)
{
    MPI_Recv(values, count, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute(values, count);
    MPI_Send(values, count, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD);
}

static void sweep_all(double *values, int left, int right)
{
    for (int count = VALUES_LEAST; count <= VALUES_MOST; count += VALUES_STEP)
        sweep(values, count, left, right);
    for (int count = VALUES_LEAST; count <= VALUES_MOST; count += VALUES_STEP)
        sweep(values, count, right, left);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long steps = argc > 1 ? atol(argv[1]) : 20000;
    int rank, size;
    double values[VALUES_MOST] = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (long i = 0; i < steps; i++)
        sweep_all(values, left, right);
    MPI_Barrier(MPI_COMM_WORLD);
    report_ranks((MPI_Wtime() - begin_s) * 1e6);
    MPI_Finalize();
    return values[0] < -1;
}
