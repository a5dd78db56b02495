/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv with one bad argument returns its error at once and leaves no half behind. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int peer = 1 - check_rank(), error;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) {
        int dest = i == 0 ? 99 : peer, source = i == 1 ? 99 : peer;
        error = MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, dest, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, source, 0,
                             MPI_COMM_WORLD, &status);
        check(check_class(error) == MPI_ERR_RANK, "a rank that does not exist");
        error = MPI_Sendrecv_replace(out, CHECK_LARGE_BYTES, MPI_BYTE, dest, 0, source, 0, MPI_COMM_WORLD, &status);
        check(check_class(error) == MPI_ERR_RANK, "a rank that does not exist, replacing");
    }
    in[0] = 1; /* would wait for ever for a receive left behind */
    check_fill(out, CHECK_LARGE_BYTES, check_rank());
    MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(check_is_filled(in, CHECK_LARGE_BYTES, peer), "the next exchange gets its own message");
    return check_end();
}
