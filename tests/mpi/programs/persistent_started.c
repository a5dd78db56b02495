/* SPDX-License-Identifier: MIT */
/* Claim: a persistent send that is started after a receive into its buffer sends
 * what was received. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
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
    return check_end();
}
