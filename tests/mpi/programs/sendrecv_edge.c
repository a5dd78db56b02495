/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv with MPI_PROC_NULL on one side does the other side, as at the edge of a domain. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int up = check_rank() == 1 ? MPI_PROC_NULL : 1, down = check_rank() == 0 ? MPI_PROC_NULL : 0;
    check_fill(out, CHECK_LARGE_BYTES, check_rank());
    MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, up, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (check_rank() == 1)
        check(check_is_filled(in, CHECK_LARGE_BYTES, 0), "from below");
    else
        check(in[0] == 0xEE && in[CHECK_LARGE_BYTES - 1] == 0xEE, "nothing from outside");
    return check_end();
}
