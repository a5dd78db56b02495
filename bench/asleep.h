/* SPDX-License-Identifier: MIT */
/* How ranks wait that are not measured. */
#ifndef BENCH_ASLEEP_H
#define BENCH_ASLEEP_H

#include <mpi.h>

#include "measure.h"

/* A barrier of all ranks. A rank that waits in MPI would spin, perhaps on the core of a rank that measures. */
static inline void asleep_wait(void)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    int is_done = 0;
    while (!is_done) {
        measure_sleep(1000);
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
}

#endif
