/* SPDX-License-Identifier: MIT */
/* Round trips of 8 bytes between two ranks; prints the median of blocks of them: latency [STEPS]. */
#include <mpi.h>
#include <stdlib.h>

#include "report_ranks.h"

enum { BLOCKS = 101, TAG = 1 };

static void round_trip(double *value, int rank)
{
    int peer = 1 - rank;
    if (rank == 0)
        MPI_Send(value, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(value, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(value, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long steps = argc > 1 ? atol(argv[1]) : 10000;
    int rank;
    double value = 1.0, times_us[BLOCKS];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int block = -1; block < BLOCKS; block++) { /* one warms up */
        double begin_s = MPI_Wtime();
        for (long i = 0; i < steps; i++)
            round_trip(&value, rank);
        if (block >= 0)
            times_us[block] = (MPI_Wtime() - begin_s) * 1e6 / (double)steps;
    }
    qsort(times_us, BLOCKS, sizeof(double), compare);
    report_ranks(times_us[BLOCKS / 2]);
    MPI_Finalize();
    return 0;
}
