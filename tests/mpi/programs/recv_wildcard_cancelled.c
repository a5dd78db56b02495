/* SPDX-License-Identifier: MIT */
/* Claim: whatever a status held before, a message from anybody was not cancelled.
 * (MPICH's probes leave that bit of a status alone; its receives do not.) */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 300000 };
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (int i = 0; i < 8; i++) {
        MPI_Status status;
        int is_cancelled = -1;
        if (check_rank() == 1)
            check_send(buffer, LENGTH, 0, i);
        if (check_rank() == 1)
            continue;
        memset(&status, 0xFF, sizeof status);
        MPI_Recv(buffer, LENGTH, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        check(is_cancelled == 0, "the message was not cancelled");
    }
    return check_end();
}
