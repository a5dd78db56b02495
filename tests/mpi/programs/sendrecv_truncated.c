/* SPDX-License-Identifier: MIT */
/* Claim: when the receive of an MPI_Sendrecv is truncated, its send arrives whole all
 * the same, and the error is returned, at once or by a later call. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { ROOM = CHECK_LARGE_BYTES / 2 };
    /* Open MPI 4.1 over shared memory fetches the whole message, beyond the count too. */
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank(), peer = 1 - rank, worst, error_class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_fill(out, CHECK_LARGE_BYTES, rank);
    worst = MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, in, rank == 0 ? ROOM : CHECK_LARGE_BYTES, MPI_BYTE,
                         peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    volatile unsigned char touched = in[0];
    (void)touched;
    int late = MPI_Barrier(MPI_COMM_WORLD);
    MPI_Error_class(worst != MPI_SUCCESS ? worst : late, &error_class);
    check(error_class == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the truncation is reported where it was");
    if (rank == 1)
        check(check_is_filled(in, CHECK_LARGE_BYTES, 0), "the other half is whole");
    return check_end();
}
