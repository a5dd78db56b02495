/* SPDX-License-Identifier: MIT */
/* Claim: a copy of a status answers like the status itself, also after other calls.
 * defers: receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 3, LENGTH = 200000 };
    unsigned char *buffers[COUNT];
    MPI_Status status, copies[COUNT];
    for (int i = 0; i < COUNT; i++)
        buffers[i] = check_buffer_new(LENGTH * (i + 2));
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        check_delay();
        check_send(buffers[i], LENGTH * (i + 1), 0, i);
    }
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        MPI_Recv(buffers[i], LENGTH * (i + 2), MPI_BYTE, 1, i, MPI_COMM_WORLD, &status);
        copies[i] = status; /* the program may reuse its status */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        int count = -1;
        MPI_Get_count(&copies[i], MPI_BYTE, &count);
        check(count == LENGTH * (i + 1), "the copy knows its own message's count");
        check(copies[i].MPI_TAG == i, "the copy knows its own message's tag");
    }
    return check_end();
}
