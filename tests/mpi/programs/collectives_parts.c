/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Allgatherv in pieces gives what MPI's own gives: one long block among short ones, blocks of nothing, in
 * any order, beside each other on one page, in place, by the function for large counts; and its lists may be
 * overwritten at once.
 * defers: collective
 * environment: LAPWING_LEARN=off
 * ranks: 2 3 4
 * timeout: 120 */
#include <stdint.h>

#include "check.h"

enum { ROUNDS = 10, RANKS_MAX = 8, SHORT = 37, MIDDLE = 5003, LONG = 400001, KINDS = 4 };

static uint32_t *sent;
static uint32_t *received;
static int counts[RANKS_MAX];
static int displacements[RANKS_MAX];
static MPI_Count large_counts[RANKS_MAX];
static MPI_Aint large_displacements[RANKS_MAX];

#if MPI_VERSION < 4
/* Never called. */
#define MPI_Allgatherv_c(...) ((void)0)
#endif

static uint32_t value(int round, int from, size_t i)
{
    return (uint32_t)round * 7919U + (uint32_t)from * 104729U + (uint32_t)i * 2654435761U;
}

/* One rank has much, others little, less, nothing. */
static void lists_make(int round)
{
    static const int kinds[KINDS] = {LONG, SHORT, MIDDLE, 0};
    int sum = 0;
    for (int rank = 0; rank < check_size(); rank++)
        counts[rank] = kinds[(rank + round) % KINDS] + (round >= KINDS ? LONG / 3 : 0);
    for (int i = 0; i < check_size(); i++) {
        int rank = round % 3 == 0 ? check_size() - 1 - i : (i + round) % check_size();
        displacements[rank] = sum;
        sum += counts[rank];
    }
    for (int rank = 0; rank < check_size(); rank++) {
        large_counts[rank] = counts[rank];
        large_displacements[rank] = displacements[rank];
    }
}

static void lists_spoil(void)
{
    memset(counts, 0x7F, sizeof counts);
    memset(displacements, 0x7F, sizeof displacements);
    memset(large_counts, 0x7F, sizeof large_counts);
    memset(large_displacements, 0x7F, sizeof large_displacements);
}

static void gather(int round, bool is_in_place)
{
    int own = counts[check_rank()];
    uint32_t *mine = is_in_place ? received + displacements[check_rank()] : sent;
    for (int i = 0; i < own; i++)
        mine[i] = value(round, check_rank(), (size_t)i);
    const void *given = is_in_place ? MPI_IN_PLACE : sent;
    if (MPI_VERSION >= 4 && (check_rank() + round) % 2 == 0)
        MPI_Allgatherv_c(given, own, MPI_UINT32_T, received, large_counts, large_displacements, MPI_UINT32_T,
                         MPI_COMM_WORLD);
    else
        MPI_Allgatherv(given, own, MPI_UINT32_T, received, counts, displacements, MPI_UINT32_T, MPI_COMM_WORLD);
}

static void expect(int round, const char *claim)
{
    for (int rank = 0; rank < check_size(); rank++)
        for (int i = 0; i < counts[rank]; i++)
            check(received[displacements[rank] + i] == value(round, rank, (size_t)i), claim);
}

static void play(int round, bool is_in_place, const char *claim)
{
    lists_make(round);
    gather(round, is_in_place);
    lists_spoil();
    if (!is_in_place && round % 2 == 1)
        sent[LONG / 2] = 0; /* what was sent may be written */
    lists_make(round);
    expect(round, claim);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    size_t block_bytes = (LONG + LONG / 3 + 1) * sizeof(uint32_t);
    sent = (uint32_t *)check_buffer_new((size_t)(check_size() + 1) * block_bytes) + 3;
    received = sent + LONG + LONG / 3; /* side by side */
    for (int round = 0; round < ROUNDS; round++) {
        play(round, false, "MPI_Allgatherv");
        play(round, true, "MPI_Allgatherv in place");
    }
    return check_end();
}
