/* SPDX-License-Identifier: MIT */
/* The cost of calls that are passed: 8-byte messages to and from MPI_PROC_NULL. A
 * preload does not look at the peer of a small message, and MPI does the same each
 * time, so that instructions can be counted. Run by tools/measure_call.py.
 *
 *     calls PAIRS
 *
 * Prints the nanoseconds that an MPI_Send and an MPI_Recv took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? atol(argv[1]) : 100000;
    double number = 1;
    MPI_Init(&argc, &argv);
    double begin_ns = now_ns();
    for (long i = 0; i < pairs; i++) {
        MPI_Send(&number, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("%.3f\n", (now_ns() - begin_ns) / (double)pairs);
    MPI_Finalize();
    return 0;
}
