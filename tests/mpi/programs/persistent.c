/* SPDX-License-Identifier: MIT */
/* Claim: persistent requests on buffers that blocking calls use too carry the right bytes; and a send that is started
 * after a receive into its buffer sends what was received. */
#include "check.h"

static void start_after_recv(unsigned char *buffer)
{
    MPI_Request request;
    if (check_rank() == 0) {
        MPI_Send_init(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else {
        check_fill(buffer, CHECK_LARGE_BYTES, 9);
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        memset(buffer, 0, CHECK_LARGE_BYTES);
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 9), "what was received was sent");
    }
}

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
    start_after_recv(in);
    return check_end();
}
