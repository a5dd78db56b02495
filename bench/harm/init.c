/* SPDX-License-Identifier: MIT */
/* The time of MPI_Init, and of the barrier after it, which the first connections are made for. */
#include <mpi.h>

#include "../measure.h"
#include "report_ranks.h"

int main(int argc, char **argv)
{
    double begin_us = measure_now_us();
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    report_ranks(measure_now_us() - begin_us);
    MPI_Finalize();
    return 0;
}
