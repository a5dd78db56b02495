/* SPDX-License-Identifier: MIT */
/* Round trips of blocking messages between ranks 0 and 1, no computation.
 *
 *     pingpong SIZE REPETITIONS [SIZE REPETITIONS ...]
 *
 * Rank 0 prints one line of JSON per size: the time of each round trip in
 * microseconds, after two that warm up. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 2, TAG = 1 };

static void round_trip(char *buffer, int length_bytes, int rank)
{
    int peer = 1 - rank;
    if (rank == 0) {
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

static void measure_size(int length_bytes, int repetitions, int rank)
{
    char *buffer = malloc((size_t)length_bytes);
    double *times_us = malloc((size_t)repetitions * sizeof(double));
    memset(buffer, rank + 1, (size_t)length_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = -WARM_UP; i < repetitions; i++) {
        double begin_s = MPI_Wtime();
        round_trip(buffer, length_bytes, rank);
        if (i >= 0)
            times_us[i] = (MPI_Wtime() - begin_s) * 1e6;
    }
    if (rank == 0)
        print_times(length_bytes, times_us, repetitions);
    free(times_us);
    free(buffer);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc < 3 || argc % 2 == 0) {
        if (rank == 0)
            fprintf(stderr, "usage, on 2 ranks: pingpong SIZE REPETITIONS [SIZE REPETITIONS ...]\n");
        MPI_Finalize();
        return 1;
    }
    for (int i = 1; i + 1 < argc; i += 2)
        measure_size(atoi(argv[i]), atoi(argv[i + 1]), rank);
    MPI_Finalize();
    return 0;
}
