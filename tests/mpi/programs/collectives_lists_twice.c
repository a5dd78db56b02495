/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Alltoallv may send one block twice while a receive into memory between its blocks is under way.
 * ranks: 3
 * timeout: 40 */
#include <unistd.h>

#include "check.h"

enum { BLOCK_BYTES = 1 << 20, ROUNDS = 8, LATE_US = 50000 };

static unsigned char *out;
static unsigned char *in;

static void exchange(int round)
{
    int counts[] = {BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES};
    int from[] = {0, 0, 2 * BLOCK_BYTES};
    int to[] = {0, BLOCK_BYTES, 2 * BLOCK_BYTES};
    check_fill(out, BLOCK_BYTES, round);
    check_fill(out + 2 * BLOCK_BYTES, BLOCK_BYTES, round + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 2)
        usleep(LATE_US); /* so that the others' collective stays under way */
    MPI_Alltoallv(out, counts, from, MPI_BYTE, in, counts, to, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    out = check_buffer_new(3 * BLOCK_BYTES);
    in = check_buffer_new(3 * BLOCK_BYTES);
    unsigned char *between = out + BLOCK_BYTES;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (check_rank() == 0)
            MPI_Irecv(between, BLOCK_BYTES, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request);
        exchange(round);
        if (check_rank() == 1)
            check_fill(between, BLOCK_BYTES, round + 7);
        if (check_rank() == 1)
            MPI_Send(between, BLOCK_BYTES, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (check_rank() == 0)
            check(check_is_filled(between, BLOCK_BYTES, round + 7), "what was received between the blocks");
        for (int rank = 0; rank < 3; rank++)
            check(check_is_filled(in + rank * BLOCK_BYTES, BLOCK_BYTES, check_rank() == 2 ? round + 1 : round),
                  "MPI_Alltoallv");
    }
    return check_end();
}
