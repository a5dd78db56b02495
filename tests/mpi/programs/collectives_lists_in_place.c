/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Alltoallv in place returns early, and gives what MPI's own gives, whatever is touched first; and where one
 * rank has paused Lapwing, too. So does MPI_Alltoallw, which is passed. On more ranks Open MPI's are passed:
 * collectives_lists.
 * defers: collective
 * ranks: 2 3 */
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { COUNT = 50001, ROUNDS = 18, RANKS_MAX = 8 };

static uint32_t *buffer;
static int counts[RANKS_MAX];
static int displacements[RANKS_MAX];

static uint32_t value(int round, int from, int to, int i)
{
    return (uint32_t)round * 7919U + (uint32_t)from * 104729U + (uint32_t)to * 1299709U + (uint32_t)i * 2654435761U;
}

/* Each pair exchanges as much; some nothing. Blocks from the last rank to the first. */
static void place_blocks(int round)
{
    int sum = 0;
    for (int peer = check_size() - 1; peer >= 0; peer--) {
        counts[peer] = COUNT * ((check_rank() + peer + round) % 3);
        displacements[peer] = sum;
        sum += counts[peer];
    }
    for (int peer = 0; peer < check_size(); peer++)
        for (int i = 0; i < counts[peer]; i++)
            buffer[displacements[peer] + i] = value(round, check_rank(), peer, i);
}

static void exchange(int round)
{
    int offsets[RANKS_MAX];
    MPI_Datatype types[RANKS_MAX];
    for (int peer = 0; peer < check_size(); peer++) {
        offsets[peer] = displacements[peer] * (int)sizeof(uint32_t);
        types[peer] = MPI_UINT32_T;
    }
    if (round % 2 == 0)
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, buffer, counts, displacements, MPI_UINT32_T,
                      MPI_COMM_WORLD);
    else
        MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, offsets, types, MPI_COMM_WORLD);
    memset(types, 0, sizeof types); /* nobody may look at them after the call */
    memset(offsets, 0x7F, sizeof offsets);
}

/* The last block first in every other round. */
static void expect_blocks(int round)
{
    for (int step = 0; step < check_size(); step++) {
        int peer = round % 3 == 0 ? check_size() - 1 - step : step;
        for (int i = 0; i < counts[peer]; i++)
            check(buffer[displacements[peer] + i] == value(round, peer, check_rank(), i), "what the peer had there");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = (uint32_t *)check_buffer_new((size_t)check_size() * 2 * COUNT * sizeof(uint32_t));
    for (int round = 0; round < ROUNDS; round++) {
        bool is_paused = round == ROUNDS - 2 && check_rank() == 0;
        place_blocks(round);
        MPI_Pcontrol(is_paused ? 0 : 1);
        exchange(round);
        expect_blocks(round);
    }
    return check_end();
}
