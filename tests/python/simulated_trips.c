/* SPDX-License-Identifier: MIT */
/* Prints half a round trip of each size given, in microseconds: for SimGrid's smpirun. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIPS = 10 };

static void make_trip(int rank, char *buffer, int size_bytes)
{
    if (rank == 0) {
        MPI_Send(buffer, size_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(buffer, size_bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Send(buffer, size_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

static void measure(int rank, int size_bytes)
{
    char *buffer = calloc(1, (size_t)size_bytes);
    make_trip(rank, buffer, size_bytes);
    double begin_s = MPI_Wtime();
    for (int trip = 0; trip < TRIPS; trip++) {
        make_trip(rank, buffer, size_bytes);
    }
    if (rank == 0) {
        printf("%d %.3f\n", size_bytes, (MPI_Wtime() - begin_s) / (2 * TRIPS) * 1e6);
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int number = 1; number < argc; number++) {
        measure(rank, atoi(argv[number]));
    }
    MPI_Finalize();
    return 0;
}
