/* SPDX-License-Identifier: MIT */
/* Claim: a cancelled receive of the program is reported as cancelled. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *held = check_buffer_new(CHECK_LARGE_BYTES), *never = check_buffer_new(1000);
    MPI_Request request;
    MPI_Status status;
    int is_cancelled = 0;
    check_send(held, 10, 1 - check_rank(), 5);
    MPI_Irecv(never, 1000, MPI_BYTE, 1 - check_rank(), 4, MPI_COMM_WORLD, &request);
    check_recv(held, CHECK_LARGE_BYTES, 1 - check_rank(), 5);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    check(is_cancelled, "MPI_Test_cancelled");
    return check_end();
}
