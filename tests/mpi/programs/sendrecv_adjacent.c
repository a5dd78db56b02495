/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv returns early and works when both buffers share a page, as neighbouring rows of an array do.
 * defers: send receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 200001 };
    unsigned char *both = check_buffer_new(2 * LENGTH);
    int peer = 1 - check_rank();
    for (int i = 0; i < 10; i++) {
        check_fill(both, LENGTH, 2 * i + check_rank());
        MPI_Sendrecv(both, LENGTH, MPI_BYTE, peer, i, both + LENGTH, LENGTH, MPI_BYTE, peer, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check(check_is_filled(both + LENGTH, LENGTH, 2 * i + peer), "the peer's data arrived");
        check(check_is_filled(both, LENGTH, 2 * i + check_rank()), "the own data is still there");
    }
    return check_end();
}
