/* SPDX-License-Identifier: MIT */
/* Claim: a rank can send large messages to itself. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int me = check_rank();
    check_fill(out, CHECK_LARGE_BYTES, 1);
    MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, me, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, me, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 1), "MPI_Sendrecv to oneself");
    MPI_Request request;
    check_fill(out, CHECK_LARGE_BYTES, 2);
    MPI_Irecv(in, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(out, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 2), "MPI_Irecv and MPI_Send on MPI_COMM_SELF");
    MPI_Isend(out, CHECK_LARGE_BYTES, MPI_BYTE, me, 0, MPI_COMM_WORLD, &request);
    memset(in, 0, CHECK_LARGE_BYTES);
    check_recv(in, CHECK_LARGE_BYTES, me, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(in, CHECK_LARGE_BYTES, 2), "MPI_Isend and MPI_Recv");
    return check_end();
}
