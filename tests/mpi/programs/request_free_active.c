/* SPDX-License-Identifier: MIT */
/* Claim: a receive whose request was freed fills its buffer, and persistent requests
 * may be freed active, inactive, and never started. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    volatile unsigned char *last;
    unsigned char *first = check_buffer_new(CHECK_LARGE_BYTES), *second = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Request requests[3];
    for (unsigned round = 1; round < 5; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 1) {
            check_fill(first, CHECK_LARGE_BYTES, round);
            check_send(first, CHECK_LARGE_BYTES, 0, 0);
            check_send(first, CHECK_LARGE_BYTES, 0, 1);
            continue;
        }
        memset(second, 0, CHECK_LARGE_BYTES);
        MPI_Irecv(first, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Request_free(&requests[0]);
        MPI_Recv_init(second, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Start(&requests[1]);
        MPI_Request_free(&requests[1]);
        MPI_Recv_init(second, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Request_free(&requests[2]);
        check(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "the handles are null");
        /* Nobody tells when it is over: look, as a program would. */
        for (last = second + CHECK_LARGE_BYTES - 1; !check_is_filled(second, CHECK_LARGE_BYTES, round);) {
            int is_found;
            MPI_Iprobe(1, 99, MPI_COMM_WORLD, &is_found, MPI_STATUS_IGNORE);
        }
        check(*last == check_byte(CHECK_LARGE_BYTES - 1, round), "the second message");
        check(check_is_filled(first, CHECK_LARGE_BYTES, round), "the first message");
    }
    return check_end();
}
