/* SPDX-License-Identifier: MIT */
/* What a program waits for an exchange over shared memory that it does not need for a while, as a part of what it waits
 * for one that it needs at once: 1 when MPI copies in the call.
 *
 *     mpirun -n 2 shared --output FILE
 *
 * The program sleeps meanwhile: so the cores are free for whoever carries the messages, also where there are no more
 * cores than ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE_BYTES = 16 << 20, PAGE_BYTES = 4096, ROUNDS = 15, WARM_UP = 5, SLEEP_NS = 20000000 };

static char *sent;
static char *received;

/* The time in the call and at the touches, not in between. */
static double exchange_s(int rank, int is_needed_late)
{
    struct timespec sleep = {0, is_needed_late ? SLEEP_NS : 0};
    volatile char sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    MPI_Sendrecv(sent, LARGE_BYTES, MPI_BYTE, 1 - rank, 0, received, LARGE_BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double returned_s = MPI_Wtime();
    if (is_needed_late)
        nanosleep(&sleep, NULL);
    double touched_s = MPI_Wtime();
    for (size_t i = 0; i < LARGE_BYTES; i += PAGE_BYTES)
        sum += received[i];
    return returned_s - begin_s + MPI_Wtime() - touched_s;
}

static int compare(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static double median(double *times_s)
{
    qsort(times_s, ROUNDS, sizeof *times_s, compare);
    return times_s[ROUNDS / 2];
}

static void write_result(const char *path, double ratio)
{
    FILE *output = fopen(path, "w");
    if (output == NULL)
        return;
    fprintf(output, "{\"shared\": %.3f}\n", ratio);
    fclose(output);
}

int main(int argc, char **argv)
{
    int rank;
    double late_s[ROUNDS], now_s[ROUNDS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sent = malloc(LARGE_BYTES);
    received = malloc(LARGE_BYTES);
    memset(sent, 1, LARGE_BYTES);
    memset(received, 0, LARGE_BYTES);
    for (int round = 0; round < WARM_UP; round++)
        exchange_s(rank, 1);
    for (int round = 0; round < ROUNDS; round++) {
        late_s[round] = exchange_s(rank, 1);
        now_s[round] = exchange_s(rank, 0);
    }
    double late_median_s = median(late_s), now_median_s = median(now_s);
    if (rank == 0)
        printf("needed late %.2f ms, at once %.2f ms\n", late_median_s * 1e3, now_median_s * 1e3);
    if (rank == 0 && argc == 3)
        write_result(argv[2], late_median_s / now_median_s);
    MPI_Finalize();
    return 0;
}
