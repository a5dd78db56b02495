/* SPDX-License-Identifier: MIT */
/* Claim: persistent requests on buffers that blocking calls use too carry the right bytes. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int peer = 1 - check_rank();
    MPI_Request requests[2];
    MPI_Send_init(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 10; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 4 * i + check_rank());
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 4 * i + peer), "the persistent message");
        check_fill(out, CHECK_LARGE_BYTES, 4 * i + 2 + check_rank());
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 2, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 2) /* else the next MPI_Startall meets the pending op */
            check(check_is_filled(in, CHECK_LARGE_BYTES, 4 * i + 2 + peer), "the blocking message");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return check_end();
}
