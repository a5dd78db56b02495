/* SPDX-License-Identifier: MIT */
/* The first round trips of 2,000,000 bytes between two ranks, as benchmarks make them that time few: prints the mean of
 * the first STEPS: first_messages [STEPS]. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "report_ranks.h"

enum { LENGTH_BYTES = 2000000, TAG = 1 };

static void send_to(int peer, char *bytes, int step)
{
    bytes[0] = bytes[LENGTH_BYTES - 1] = (char)step;
    MPI_Send(bytes, LENGTH_BYTES, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
}

static void receive_from(int peer, char *bytes, int step)
{
    MPI_Recv(bytes, LENGTH_BYTES, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (bytes[0] != (char)step || bytes[LENGTH_BYTES - 1] != (char)step)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void round_trip(char *sent, char *received, int rank, int step)
{
    if (rank == 0)
        send_to(1, sent, step);
    receive_from(1 - rank, received, step);
    if (rank != 0)
        send_to(0, sent, step);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int steps = argc > 1 ? atoi(argv[1]) : 16, rank;
    char *sent = malloc(LENGTH_BYTES), *received = malloc(LENGTH_BYTES);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(sent, 1, LENGTH_BYTES);
    memset(received, 2, LENGTH_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int step = 0; step < steps; step++)
        round_trip(sent, received, rank, step);
    report_ranks((MPI_Wtime() - begin_s) * 1e6 / steps);
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
