/* SPDX-License-Identifier: MIT */
/* How much computation fits beside blocking messages between two ranks, or pairs of them (partner.h).
 *
 *     overlap --calibrate
 *     overlap UNITS SIZE REPETITIONS [UNITS SIZE REPETITIONS ...]
 *
 * The first rank sends, computes, writes one byte of the buffer, receives, computes
 * and reads one byte; the second does the mirror image. The work is a fixed number
 * of units, so that a slower core shows as a longer time. Each repetition takes
 * three times: messages alone, work alone, both; the slowest rank counts. Rank 0
 * prints one line of JSON per triple. --calibrate needs no MPI launcher and
 * prints how many units take a millisecond. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "partner.h"

enum { WARM_UP = 2, TAG = 1 };
enum { MESSAGES, WORK, BOTH, PROCESSOR, KINDS };
static const char *kind_names[KINDS] = {"comm_us", "comp_us", "both_us", "comm_processor_us"};

static volatile char byte_read;

/* The messages alone have call sites of their own: they have no slack, and a
 * library that learns from call sites must not mix them with those below. */
static void messages_alone(char *buffer, int length_bytes, const struct partner *partner)
{
    if (partner->is_first) {
        MPI_Send(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD);
        buffer[length_bytes / 2]++;
        MPI_Recv(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        byte_read = buffer[length_bytes / 2];
    } else {
        MPI_Recv(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        byte_read = buffer[length_bytes / 2];
        MPI_Send(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD);
        buffer[length_bytes / 2]++;
    }
}

static void work_alone(long units)
{
    measure_work(units);
    measure_work(units);
}

static void messages_and_work(char *buffer, int length_bytes, const struct partner *partner, long units)
{
    if (partner->is_first) {
        MPI_Send(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD);
        measure_work(units);
        buffer[length_bytes / 2]++;
        MPI_Recv(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        measure_work(units);
        byte_read = buffer[length_bytes / 2];
    } else {
        MPI_Recv(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        measure_work(units);
        byte_read = buffer[length_bytes / 2];
        MPI_Send(buffer, length_bytes, MPI_BYTE, partner->peer, TAG, MPI_COMM_WORLD);
        measure_work(units);
        buffer[length_bytes / 2]++;
    }
}

static void measure_once(char *buffer, int length_bytes, const struct partner *partner, long units,
                         double times_us[KINDS])
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us(), processor_begin_us = measure_clock_us(CLOCK_PROCESS_CPUTIME_ID);
    messages_alone(buffer, length_bytes, partner);
    times_us[MESSAGES] = measure_now_us() - begin_us;
    times_us[PROCESSOR] = measure_clock_us(CLOCK_PROCESS_CPUTIME_ID) - processor_begin_us;
    MPI_Barrier(MPI_COMM_WORLD);
    begin_us = measure_now_us();
    work_alone(units);
    times_us[WORK] = measure_now_us() - begin_us;
    MPI_Barrier(MPI_COMM_WORLD);
    begin_us = measure_now_us();
    messages_and_work(buffer, length_bytes, partner, units);
    times_us[BOTH] = measure_now_us() - begin_us;
}

static void measure_point(long units, int length_bytes, int repetitions, const struct partner *partner)
{
    char *buffer = malloc((size_t)length_bytes);
    double(*own_us)[KINDS] = calloc((size_t)repetitions, sizeof(*own_us));
    double(*slowest_us)[KINDS] = calloc((size_t)repetitions, sizeof(*slowest_us));
    memset(buffer, 0, (size_t)length_bytes);
    for (int i = -WARM_UP; i < repetitions; i++)
        measure_once(buffer, length_bytes, partner, units, own_us[i < 0 ? 0 : i]);
    MPI_Reduce(own_us, slowest_us, repetitions * KINDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (partner->rank == 0)
        measure_print_kinds(length_bytes, kind_names, KINDS, slowest_us[0], repetitions);
    free(slowest_us);
    free(own_us);
    free(buffer);
}

static int usage(int rank)
{
    if (rank == 0)
        fprintf(stderr,
                "usage, on an even number of ranks: overlap UNITS SIZE REPETITIONS [UNITS SIZE REPETITIONS ...]\n");
    MPI_Finalize();
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0)
        return measure_calibrate();
    MPI_Init(&argc, &argv);
    struct partner partner;
    if (!partner_find(&partner) || argc < 4 || (argc - 1) % 3 != 0)
        return usage(partner.rank);
    for (int i = 1; i + 2 < argc; i += 3)
        measure_point(atol(argv[i]), atoi(argv[i + 1]), atoi(argv[i + 2]), &partner);
    MPI_Finalize();
    return 0;
}
