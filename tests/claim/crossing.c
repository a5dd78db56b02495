/* SPDX-License-Identifier: MIT */
/* How much longer an exchange takes than one of its two messages: 1 when both travel at once, 2 when they take turns.
 *
 *     mpirun -n 2 crossing --output FILE
 *
 * Rank 1 has heard of its peer's message before it begins its own, as a rank that is a little behind has. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LARGE_BYTES = 4 << 20, ROUNDS = 7, DATA = 1, NEVER = 2 };

static char sent[LARGE_BYTES];
static char received[LARGE_BYTES];

static void hear_of_message(void)
{
    const double patience_s = 1e-3;
    double begin_s = MPI_Wtime();
    int is_there = 0;
    while (MPI_Wtime() - begin_s < patience_s)
        MPI_Iprobe(MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
}

static double exchange_s(int rank, int sends, int receives)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    if (rank == 1)
        hear_of_message();
    if (receives)
        MPI_Irecv(received, LARGE_BYTES, MPI_BYTE, 1 - rank, DATA, MPI_COMM_WORLD, &requests[0]);
    if (sends)
        MPI_Isend(sent, LARGE_BYTES, MPI_BYTE, 1 - rank, DATA, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin_s;
}

int main(int argc, char **argv)
{
    int rank;
    double both_s = 0;
    double one_s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(sent, 1, sizeof sent);
    exchange_s(rank, 1, 1);
    for (int round = 0; round < ROUNDS; round++) {
        both_s += exchange_s(rank, 1, 1);
        one_s += exchange_s(rank, rank == 0, rank == 1);
    }
    if (rank == 0)
        printf("both %.1f ms, one %.1f ms\n", both_s / ROUNDS * 1e3, one_s / ROUNDS * 1e3);
    FILE *output = rank == 0 && argc == 3 ? fopen(argv[2], "w") : NULL;
    if (output != NULL)
        fprintf(output, "{\"crossing\": %.3f}\n", both_s / one_s);
    if (output != NULL)
        fclose(output);
    MPI_Finalize();
    return 0;
}
