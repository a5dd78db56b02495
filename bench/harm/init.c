/* SPDX-License-Identifier: MIT */
/* The time of MPI_Init, and of the barrier after it, which the first connections are made for. */
#include <mpi.h>
#include <time.h>

#include "report_ranks.h"

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
    double begin_us = now_us();
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    report_ranks(now_us() - begin_us);
    MPI_Finalize();
    return 0;
}
