/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Finalize ends after requests were freed while active, whether or not their messages are over by then. (MPI
 * 4.1, 11.2.2: what completes them is the receiver's barrier.) */
#include "check.h"

enum { COUNT = 10 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Request request;
    check_fill(out, CHECK_LARGE_BYTES, 1);
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        MPI_Isend(out, CHECK_LARGE_BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Send_init(out, CHECK_LARGE_BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Request_free(&request);
    }
    for (int i = 0; check_rank() == 1 && i < 2 * COUNT; i++) {
        memset(in, 0, CHECK_LARGE_BYTES);
        check_recv(in, CHECK_LARGE_BYTES, 0, i / 2);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 1), "the message");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
