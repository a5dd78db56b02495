/* SPDX-License-Identifier: MIT */
/* Claim: a list whose blocks are sent twice may leave out pages that the program itself cannot read.
 * ranks: 4 */
#include <sys/mman.h>

#include "check.h"

/* Calls with lists begin to return early after some of them. */
enum { BLOCK_BYTES = 256 * 1024, RANKS = 4, CALLS = 8 };

int main(int argc, char **argv)
{
    int lengths[RANKS] = {BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES};
    int sent[RANKS] = {0, 0, 0, 3 * BLOCK_BYTES};
    int received[RANKS] = {0, BLOCK_BYTES, 2 * BLOCK_BYTES, 3 * BLOCK_BYTES};
    check_start(&argc, &argv);
    unsigned char *blocks = mmap(NULL, RANKS * BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *others = check_buffer_new(RANKS * BLOCK_BYTES);
    check_fill(blocks, BLOCK_BYTES, check_rank());
    check_fill(blocks + 3 * BLOCK_BYTES, BLOCK_BYTES, check_rank());
    mprotect(blocks + BLOCK_BYTES, 2 * BLOCK_BYTES, PROT_NONE);
    for (int i = 0; i < CALLS; i++)
        MPI_Alltoallv(blocks, lengths, sent, MPI_BYTE, others, lengths, received, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < RANKS; i++)
        check(check_is_filled(others + i * BLOCK_BYTES, BLOCK_BYTES, i), "the block of a rank");
    return check_end();
}
