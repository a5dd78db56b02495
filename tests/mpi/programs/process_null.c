/* SPDX-License-Identifier: MIT */
/* Claim: MPI_PROC_NULL moves nothing and reports so. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Status status;
    int count = -1;
    check_fill(buffer, CHECK_LARGE_BYTES, 1);
    check_send(buffer, CHECK_LARGE_BYTES, MPI_PROC_NULL, 0);
    MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0, "the empty status");
    MPI_Sendrecv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_PROC_NULL, 0, buffer, CHECK_LARGE_BYTES, MPI_BYTE,
                 MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    check(status.MPI_SOURCE == MPI_PROC_NULL, "MPI_Sendrecv's status");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 1), "the buffer");
    return check_end();
}
