/* SPDX-License-Identifier: MIT */
/* Claim: buffered, synchronous and ready sends deliver beside deferred ones. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 300000 };
    unsigned char *buffer = check_buffer_new(LENGTH), *attached = check_buffer_new(LENGTH + MPI_BSEND_OVERHEAD);
    int length;
    MPI_Request request;
    if (check_rank() == 1) {
        MPI_Irecv(buffer, LENGTH, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(check_is_filled(buffer, LENGTH, 3), "MPI_Rsend");
        for (int tag = 0; tag < 3; tag++) {
            check_recv(buffer, LENGTH, 0, tag);
            check(check_is_filled(buffer, LENGTH, tag), "MPI_Bsend, MPI_Ssend, MPI_Send");
        }
        return check_end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_fill(buffer, LENGTH, 3);
    MPI_Rsend(buffer, LENGTH, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    MPI_Buffer_attach(attached, LENGTH + MPI_BSEND_OVERHEAD);
    check_fill(buffer, LENGTH, 0);
    MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    check_fill(buffer, LENGTH, 1);
    MPI_Ssend(buffer, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    check_fill(buffer, LENGTH, 2);
    check_send(buffer, LENGTH, 1, 2);
    MPI_Buffer_detach(&attached, &length);
    memset(attached, 0, LENGTH);
    memset(buffer, 0, LENGTH);
    return check_end();
}
