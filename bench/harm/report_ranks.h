/* SPDX-License-Identifier: MIT */
/* What the programs with ranks print: rank 0's time, and page faults and resident memory of its process. */
#ifndef BENCH_HARM_REPORT_RANKS_H
#define BENCH_HARM_REPORT_RANKS_H

#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

static inline void report_ranks_more(double time_us, const char *more)
{
    int rank;
    struct rusage used;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    getrusage(RUSAGE_SELF, &used);
    if (rank == 0)
        printf("{\"time_us\": %.4f, \"faults\": %ld, \"memory_kib\": %ld%s}\n", time_us, used.ru_minflt, used.ru_maxrss,
               more);
    fflush(stdout);
}

/* Measured inside the job: the launcher's start and end vary more than a solver's step. */
static inline void report_ranks(double time_us)
{
    report_ranks_more(time_us, "");
}

static inline void report_ranks_processor(double time_us, double processor_us)
{
    char more[64];
    snprintf(more, sizeof more, ", \"processor_us\": %.1f", processor_us);
    report_ranks_more(time_us, more);
}

#endif
