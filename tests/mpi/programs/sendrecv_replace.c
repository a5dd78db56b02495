/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv_replace swaps buffers that were just received. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int peer = 1 - check_rank();
    check_fill(buffer, CHECK_LARGE_BYTES, check_rank());
    MPI_Sendrecv_replace(buffer, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, peer), "the buffers were swapped");
    return check_end();
}
