/* SPDX-License-Identifier: MIT */
/* Claim: when the receive of an MPI_Sendrecv is truncated, its send arrives whole all
 * the same, and the error is returned, at once or by a later call. */
#include "check.h"

static void exchange(int length)
{
    int room = length / 2;
    /* Open MPI 4.1 over shared memory fetches the whole message, beyond the count too. */
    unsigned char *out = aligned_alloc(4096, length), *in = aligned_alloc(4096, length);
    int rank = check_rank(), peer = 1 - rank, worst, error_class;
    check_fill(out, length, rank);
    memset(in, 0, length);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        check_delay(); /* a small message is there before its receive */
    worst = MPI_Sendrecv(out, length, MPI_BYTE, peer, 0, in, rank == 0 ? room : length, MPI_BYTE, peer, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    volatile unsigned char touched = in[0];
    (void)touched;
    int late = MPI_Barrier(MPI_COMM_WORLD);
    MPI_Error_class(worst != MPI_SUCCESS ? worst : late, &error_class);
    check(error_class == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the truncation is reported where it was");
    if (rank == 1)
        check(check_is_filled(in, length, 0), "the other half is whole");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    exchange(8192);
    exchange(CHECK_LARGE_BYTES);
    return check_end();
}
