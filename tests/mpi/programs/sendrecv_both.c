/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv carries data both ways, many times, on the same buffers; and with MPI_PROC_NULL on one side, as
 * at the edge of a domain, does the other side.
 * defers: any */
#include "check.h"

static void exchange_at_edge(unsigned char *out, unsigned char *in)
{
    int up = check_rank() == 1 ? MPI_PROC_NULL : 1, down = check_rank() == 0 ? MPI_PROC_NULL : 0;
    check_fill(out, CHECK_LARGE_BYTES, check_rank());
    memset(in, 0xEE, CHECK_LARGE_BYTES);
    MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, up, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (check_rank() == 1)
        check(check_is_filled(in, CHECK_LARGE_BYTES, 0), "from below");
    else
        check(in[0] == 0xEE && in[CHECK_LARGE_BYTES - 1] == 0xEE, "nothing from outside");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int peer = 1 - check_rank();
    exchange_at_edge(out, in);
    for (int i = 0; i < 20; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + check_rank());
        MPI_Status status;
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, i, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, i,
                     MPI_COMM_WORLD, i % 2 ? &status : MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + peer), "the peer's data arrived");
    }
    return check_end();
}
