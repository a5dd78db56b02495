/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv carries data both ways, many times, on the same buffers.
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int peer = 1 - check_rank();
    for (int i = 0; i < 20; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + check_rank());
        MPI_Status status;
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, i, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, i,
                     MPI_COMM_WORLD, i % 2 ? &status : MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + peer), "the peer's data arrived");
    }
    return check_end();
}
