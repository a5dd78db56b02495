/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Alltoallw in place gives what MPI's own gives where a rank's type for itself has another size than those
 * for its peers. (MPICH 4.0's and Intel MPI's nonblocking one takes all blocks to have the size of that type: wrong
 * data, or "message truncated".) It is passed.
 * arguments: narrow wide
 * quick: mpich4 impi userfaultfd default
 * ranks: 2 3 */
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { COUNT = 100000, ROUNDS = 8, RANKS_MAX = 4 };

static uint32_t value(int round, int from, int to, int i)
{
    return (uint32_t)round * 7919U + (uint32_t)from * 104729U + (uint32_t)to * 1299709U + (uint32_t)i;
}

static void exchange(uint32_t *buffer, MPI_Datatype own)
{
    int counts[RANKS_MAX];
    int offsets[RANKS_MAX];
    MPI_Datatype types[RANKS_MAX];
    for (int peer = 0; peer < check_size(); peer++) {
        counts[peer] = peer == check_rank() ? 0 : COUNT;
        offsets[peer] = peer * COUNT * (int)sizeof *buffer;
        types[peer] = peer == check_rank() ? own : MPI_UINT32_T;
    }
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, offsets, types, MPI_COMM_WORLD);
}

static void fill(uint32_t *buffer, int round)
{
    for (int peer = 0; peer < check_size(); peer++)
        for (int i = 0; i < COUNT; i++)
            buffer[peer * COUNT + i] = value(round, check_rank(), peer, i);
}

static void expect(const uint32_t *buffer, int round)
{
    for (int peer = 0; peer < check_size(); peer++)
        for (int i = 0; i < COUNT; i++)
            check(buffer[peer * COUNT + i] == value(round, peer, check_rank(), i), "what the peer had there");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Datatype own = strcmp(argv[1], "narrow") == 0 ? MPI_BYTE : MPI_DOUBLE;
    uint32_t *buffer = (uint32_t *)check_buffer_new((size_t)check_size() * COUNT * sizeof(uint32_t));
    for (int round = 0; round < ROUNDS; round++) {
        fill(buffer, round);
        exchange(buffer, own);
        expect(buffer, round);
    }
    return check_end();
}
