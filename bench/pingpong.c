/* SPDX-License-Identifier: MIT */
/* Round trips of blocking messages between two ranks, or pairs of them (partner.h), no computation.
 *
 *     pingpong SIZE REPETITIONS [SIZE REPETITIONS ...]
 *
 * Rank 0 prints one line of JSON per size: the time of each round trip in
 * microseconds, after two that warm up; of several pairs the slowest counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partner.h"

enum { WARM_UP = 2, TAG = 1 };

static void round_trip(char *buffer, int length_bytes, const struct partner *partner)
{
    int peer = partner->peer;
    if (partner->is_first) {
        MPI_Send(buffer, length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(buffer, length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    }
}

static void print_times(int length_bytes, const double *times_us, int count)
{
    printf("{\"size_bytes\": %d, \"round_trip_us\": [", length_bytes);
    for (int i = 0; i < count; i++)
        printf("%s%.2f", i ? ", " : "", times_us[i]);
    printf("]}\n");
    fflush(stdout);
}

static void measure_size(int length_bytes, int repetitions, const struct partner *partner)
{
    char *buffer = malloc((size_t)length_bytes);
    double *times_us = malloc((size_t)repetitions * sizeof(double));
    double *slowest_us = malloc((size_t)repetitions * sizeof(double));
    memset(buffer, partner->rank + 1, (size_t)length_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = -WARM_UP; i < repetitions; i++) {
        double begin_s = MPI_Wtime();
        round_trip(buffer, length_bytes, partner);
        if (i >= 0)
            times_us[i] = (MPI_Wtime() - begin_s) * 1e6;
    }
    MPI_Reduce(times_us, slowest_us, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (partner->rank == 0)
        print_times(length_bytes, slowest_us, repetitions);
    free(slowest_us);
    free(times_us);
    free(buffer);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct partner partner;
    if (!partner_find(&partner) || argc < 3 || argc % 2 == 0) {
        if (partner.rank == 0)
            fprintf(stderr, "usage, on an even number of ranks: pingpong SIZE REPETITIONS [SIZE REPETITIONS ...]\n");
        MPI_Finalize();
        return 1;
    }
    for (int i = 1; i + 1 < argc; i += 2)
        measure_size(atoi(argv[i]), atoi(argv[i + 1]), &partner);
    MPI_Finalize();
    return 0;
}
