/* SPDX-License-Identifier: MIT */
/* Claim: what is written after the wait for a nonblocking send does not change what arrives; the request is null, and
 * its status says that it was not cancelled.
 * arguments: wait waitall
 * defers: send */
#include "check.h"

static void end(MPI_Request *request, bool is_all)
{
    MPI_Status status;
    int is_cancelled = 1;
    if (is_all)
        MPI_Waitall(1, request, &status);
    else
        MPI_Wait(request, &status);
    check(*request == MPI_REQUEST_NULL, "the request is null");
    MPI_Test_cancelled(&status, &is_cancelled);
    check(!is_cancelled, "the send was not cancelled");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    bool is_all = strcmp(argv[1], "waitall") == 0;
    MPI_Request request;
    for (int i = 0; i < 10; i++) {
        if (check_rank() == 0) {
            check_fill(buffer, CHECK_LARGE_BYTES, i);
            MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
            end(&request, is_all);
            buffer[(i * 104729) % CHECK_LARGE_BYTES] = 0;
            memset(buffer, 0xAA, CHECK_LARGE_BYTES);
        } else {
            check_recv_late(buffer, CHECK_LARGE_BYTES, i, 0, 0, "the message as it was at the wait");
        }
    }
    return check_end();
}
