/* SPDX-License-Identifier: MIT */
/* Claim: more pending sends than any table holds all arrive, in order. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 400, LENGTH = 70000 };
    unsigned char *room = check_buffer_new((size_t)COUNT * LENGTH);
    MPI_Request requests[COUNT];
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        check_fill(room + (size_t)i * LENGTH, LENGTH, i);
        check_send(room + (size_t)i * LENGTH, LENGTH, 1, 0);
    }
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        if (i % 3)
            MPI_Irecv(room + (size_t)i * LENGTH, LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Recv(room + (size_t)i * LENGTH, LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        if (i % 3)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        check(check_is_filled(room + (size_t)i * LENGTH, LENGTH, i), "message i");
    }
    return check_end();
}
