/* SPDX-License-Identifier: MIT */
/* A rank begins to receive large messages whose sender comes later, and sleeps until they must have come: woken
 * [LATE_MS]. Prints, in a line of JSON, how long it then still waits, and how long a message takes that it needs at
 * once, in the median. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LENGTH_BYTES = 8 << 20, PAGE_BYTES = 4096, ROUNDS = 15, LATE_MS = 50, MORE_MS = 100 };

static void rest(long time_ms)
{
    struct timespec time = {time_ms / 1000, time_ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static int compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

/* Seconds until all of a message is there; of a late one, when it should have come. late_ms: 0: it is needed at once.
 */
static double receive(char *buffer, int rank, long late_ms)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        rest(late_ms);
        MPI_Send(buffer, LENGTH_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        return 0;
    }
    double begin_s = MPI_Wtime();
    MPI_Recv(buffer, LENGTH_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (late_ms != 0) {
        rest(late_ms + MORE_MS);
        begin_s = MPI_Wtime();
    }
    for (size_t i = 0; i < LENGTH_BYTES; i += PAGE_BYTES)
        (void)*(volatile char *)&buffer[i];
    return MPI_Wtime() - begin_s;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    long late_ms = argc > 1 ? atol(argv[1]) : LATE_MS;
    double at_once_s[ROUNDS], late_s[ROUNDS];
    char *buffer = calloc(1, LENGTH_BYTES);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        at_once_s[i] = receive(buffer, rank, 0);
        late_s[i] = receive(buffer, rank, late_ms);
    }
    qsort(at_once_s, ROUNDS, sizeof *at_once_s, compare);
    qsort(late_s, ROUNDS, sizeof *late_s, compare);
    if (rank == 1)
        printf("{\"at_once_s\": %.6f, \"late_s\": %.6f}\n", at_once_s[ROUNDS / 2], late_s[ROUNDS / 2]);
    MPI_Finalize();
    return 0;
}
