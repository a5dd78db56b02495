/* SPDX-License-Identifier: MIT */
/* The time of MPI_Init, and of the barrier after it, which the first connections are made for; and the processor time
 * of all threads in MPI_Init alone: a barrier waits by looking. */
#include <mpi.h>

#include "../measure.h"
#include "report_ranks.h"

int main(int argc, char **argv)
{
    double begin_us = measure_now_us(), processor_begin_us = measure_clock_us(CLOCK_PROCESS_CPUTIME_ID);
    MPI_Init(&argc, &argv);
    double processor_us = measure_clock_us(CLOCK_PROCESS_CPUTIME_ID) - processor_begin_us;
    MPI_Barrier(MPI_COMM_WORLD);
    report_ranks_processor(measure_now_us() - begin_us, processor_us);
    MPI_Finalize();
    return 0;
}
