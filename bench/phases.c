/* SPDX-License-Identifier: MIT */
/* One call site that alternates between messages alone and messages beside work, between two ranks, or
 * pairs of them (partner.h).
 *
 *     phases --calibrate
 *     phases KIND UNITS SIZE CALLS CYCLES [KIND UNITS SIZE CALLS CYCLES ...]
 *
 * KIND: blocking or nonblocking. A cycle is CALLS exchanges alone, CALLS times the work alone, and CALLS exchanges
 * beside work; all exchanges of a kind are made by the same calls. An exchange: the first rank sends, computes, writes
 * one byte of the buffer, receives, computes and reads one byte; the second does the mirror image. Each is timed by
 * itself, and the slowest rank counts. Rank 0 prints one line of JSON per point: times of all cycles, one cycle after
 * the other. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "partner.h"

enum { TAG = 1, WORDS_PER_POINT = 5 };
enum { MESSAGES, WORK, BOTH, KINDS };
static const char *kind_names[KINDS] = {"comm_us", "comp_us", "both_us"};

struct point {
    bool is_nonblocking;
    long units;
    int length_bytes;
    int calls;
    int cycles;
};

static volatile char byte_read;

static void send_beside(char *buffer, const struct point *point, int peer, long units)
{
    MPI_Request request;
    if (point->is_nonblocking)
        MPI_Isend(buffer, point->length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    else
        MPI_Send(buffer, point->length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    measure_work(units);
    if (point->is_nonblocking)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    buffer[point->length_bytes / 2]++;
}

static void receive_beside(char *buffer, const struct point *point, int peer, long units)
{
    MPI_Request request;
    if (point->is_nonblocking)
        MPI_Irecv(buffer, point->length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    else
        MPI_Recv(buffer, point->length_bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    measure_work(units);
    if (point->is_nonblocking)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    byte_read = buffer[point->length_bytes / 2];
}

static void exchange(char *buffer, const struct point *point, const struct partner *partner, long units)
{
    if (partner->is_first) {
        send_beside(buffer, point, partner->peer, units);
        receive_beside(buffer, point, partner->peer, units);
    } else {
        receive_beside(buffer, point, partner->peer, units);
        send_beside(buffer, point, partner->peer, units);
    }
}

static double measure_one(int kind, char *buffer, const struct point *point, const struct partner *partner)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_us = measure_now_us();
    if (kind == WORK) {
        measure_work(point->units);
        measure_work(point->units);
    } else {
        exchange(buffer, point, partner, kind == BOTH ? point->units : 0);
    }
    return measure_now_us() - begin_us;
}

static void measure_cycle(char *buffer, const struct point *point, const struct partner *partner,
                          double (*times_us)[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int call = 0; call < point->calls; call++)
            times_us[call][kind] = measure_one(kind, buffer, point, partner);
}

static void measure_point(const struct point *point, const struct partner *partner)
{
    int count = point->calls * point->cycles;
    char *buffer = measure_buffer((size_t)point->length_bytes, partner->rank);
    double(*own_us)[KINDS] = calloc((size_t)count, sizeof(*own_us));
    double(*slowest_us)[KINDS] = calloc((size_t)count, sizeof(*slowest_us));
    for (int cycle = 0; cycle < point->cycles; cycle++)
        measure_cycle(buffer, point, partner, own_us + (size_t)cycle * (size_t)point->calls);
    MPI_Reduce(own_us, slowest_us, count * KINDS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (partner->rank == 0)
        measure_print_kinds(point->length_bytes, kind_names, KINDS, slowest_us[0], count);
    free(slowest_us);
    free(own_us);
    free(buffer);
}

static struct point point_of(char **words)
{
    return (struct point){
        .is_nonblocking = strcmp(words[0], "nonblocking") == 0,
        .units = atol(words[1]),
        .length_bytes = atoi(words[2]),
        .calls = atoi(words[3]),
        .cycles = atoi(words[4]),
    };
}

static int usage(int rank)
{
    if (rank == 0)
        fprintf(stderr, "usage, on an even number of ranks: phases KIND UNITS SIZE CALLS CYCLES [...]\n");
    MPI_Finalize();
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0)
        return measure_calibrate();
    MPI_Init(&argc, &argv);
    struct partner partner;
    if (!partner_find(&partner) || argc <= WORDS_PER_POINT || (argc - 1) % WORDS_PER_POINT != 0)
        return usage(partner.rank);
    for (int i = 1; i < argc; i += WORDS_PER_POINT) {
        struct point point = point_of(argv + i);
        measure_point(&point, &partner);
    }
    MPI_Finalize();
    return 0;
}
