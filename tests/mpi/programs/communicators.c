/* SPDX-License-Identifier: MIT */
/* Claim: equal tags on different communicators stay apart, and a communicator may be freed at once. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *first = check_buffer_new(CHECK_LARGE_BYTES), *second = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm twin, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank(), &half); /* ranks are reversed there */
    if (check_rank() == 0) {
        check_fill(first, CHECK_LARGE_BYTES, 1);
        check_fill(second, CHECK_LARGE_BYTES, 2);
        MPI_Send(first, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, twin);
        MPI_Send(second, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, half);
    } else {
        MPI_Status status;
        MPI_Recv(first, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, twin, MPI_STATUS_IGNORE);
        MPI_Recv(second, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, half, &status);
        check(status.MPI_SOURCE == 1, "the source as the split communicator numbers it");
    }
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
    check(check_is_filled(first, CHECK_LARGE_BYTES, 1), "the duplicate's message");
    check(check_is_filled(second, CHECK_LARGE_BYTES, 2), "the split communicator's message");
    return check_end();
}
