/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Alltoallv of parents and a process that they spawned is MPI's own.
 * quick: openmpi4 mpich4
 * timeout: 30 */
#include "check.h"

/* Ranks that have not been asked agree upon nothing. */
enum { RANKS_MAX = 8, ROUNDS = 8 };

static void exchange(MPI_Comm all, int round)
{
    int counts[RANKS_MAX], displacements[RANKS_MAX], out[RANKS_MAX], in[RANKS_MAX];
    int rank, size;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    for (int peer = 0; peer < size; peer++) {
        counts[peer] = 1;
        displacements[peer] = peer;
        out[peer] = 100 * round + 10 * rank + peer;
    }
    MPI_Alltoallv(out, counts, displacements, MPI_INT, in, counts, displacements, MPI_INT, all);
    for (int peer = 0; peer < size; peer++)
        check(in[peer] == 100 * round + 10 * peer + rank, "what the peer sent");
}

static void exchanges(MPI_Comm all)
{
    for (int round = 0; round < ROUNDS; round++)
        exchange(all, round);
}

int main(int argc, char **argv)
{
    return check_with_spawned(argc, argv, exchanges);
}
