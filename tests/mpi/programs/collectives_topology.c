/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Alltoallw on a communicator with a topology takes as many types as there are ranks. Open MPI 4.1's
 * nonblocking one takes as many as there are neighbors, here three times as many, and read types behind the list.
 * quick: userfaultfd */
#include <stdint.h>

#include "check.h"

enum { RANKS = 2, COUNT = 200000, ROUNDS = 8 };

static void exchange(MPI_Comm comm, uint32_t *sent, uint32_t *received, uint32_t round)
{
    int counts[RANKS] = {COUNT, COUNT}, places[RANKS] = {0, COUNT * sizeof *sent};
    MPI_Datatype types[RANKS];
    for (int i = 0; i < RANKS; i++)
        MPI_Type_dup(MPI_UINT32_T, &types[i]);
    for (uint32_t i = 0; i < RANKS * COUNT; i++)
        sent[i] = round + (uint32_t)check_rank() + i;
    MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, comm);
    for (int i = 0; i < RANKS; i++)
        MPI_Type_free(&types[i]);
    for (uint32_t i = 0; i < RANKS * COUNT; i++)
        check(received[i] == round + i / COUNT + (uint32_t)check_rank() * COUNT + i % COUNT, "the blocks of all ranks");
}

int main(int argc, char **argv)
{
    int sizes[3] = {RANKS, 1, 1}, periods[3] = {0, 0, 0};
    MPI_Comm comm;
    check_start(&argc, &argv);
    uint32_t *sent = (uint32_t *)check_buffer_new(RANKS * COUNT * sizeof *sent);
    uint32_t *received = (uint32_t *)check_buffer_new(RANKS * COUNT * sizeof *received);
    MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, periods, 0, &comm);
    for (uint32_t round = 1; round <= ROUNDS; round++)
        exchange(comm, sent, received, round);
    MPI_Comm_free(&comm);
    return check_end();
}
