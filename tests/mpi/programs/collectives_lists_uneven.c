/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Allgatherv of long blocks and one of nothing, or of an element, takes no longer than MPI's own, by far.
 * Intel MPI's nonblocking one would move an element at a time, and this program would end at its time limit.
 * quick: impi
 * environment: LAPWING_LEARN=off
 * ranks: 3 */
#include "check.h"

enum { COUNT = 2000000, ROUNDS = 8, RANKS = 3 };

static int counts[RANKS];
static int displacements[RANKS];

static void lists_make(int round)
{
    for (int rank = 0; rank < RANKS; rank++) {
        counts[rank] = rank == round % RANKS ? round / RANKS : COUNT;
        displacements[rank] = rank * COUNT;
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *sent = check_buffer_new(COUNT);
    unsigned char *received = check_buffer_new(RANKS * (size_t)COUNT);
    for (int round = 0; round < ROUNDS; round++) {
        lists_make(round);
        check_fill(sent, COUNT, (unsigned)round);
        MPI_Allgatherv(sent, counts[check_rank()], MPI_CHAR, received, counts, displacements, MPI_CHAR, MPI_COMM_WORLD);
        for (int rank = 0; rank < RANKS; rank++)
            check(check_is_filled(received + displacements[rank], (size_t)counts[rank], (unsigned)round), "data");
    }
    return check_end();
}
