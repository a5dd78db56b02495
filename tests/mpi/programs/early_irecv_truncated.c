/* SPDX-License-Identifier: MIT */
/* Claim: where a message that was received early is too long for an MPI_Irecv, its wait tells so, and not the start.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { DATA = 2, LENGTH = 600000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Request request;
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (int i = 0; check_rank() == 1 && i < 2; i++)
        check_send(buffer, LENGTH, 0, DATA);
    if (check_rank() == 0) {
        check_recv(buffer, LENGTH, 1, DATA);
        check_delay();
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int started = MPI_Irecv(buffer, LENGTH - 8, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
        check(started == MPI_SUCCESS && request != MPI_REQUEST_NULL, "the start");
        check(check_class(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE, "the wait");
    }
    return check_end();
}
