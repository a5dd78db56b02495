/* SPDX-License-Identifier: MIT */
/* Claim: on communicators where messages are matched by MPI_Mprobe, MPI_Improbe or persistent receives, none is
 * received early from then on.
 * arguments: mprobe improbe recv_init
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { ROUNDS = 4, DATA = 2, LENGTH = 300000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm comm;
    unsigned char *buffer = check_buffer_new(LENGTH);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(buffer, LENGTH, round);
        if (check_rank() == 1)
            MPI_Send(buffer, LENGTH, MPI_BYTE, 0, DATA, comm);
        else if (round % 2 == 1)
            MPI_Recv(buffer, LENGTH, MPI_BYTE, 1, DATA, comm, MPI_STATUS_IGNORE);
        else
            check(check_recv_by_handle(argv[1], buffer, LENGTH, DATA, comm), "a way to receive");
        check(check_is_filled(buffer, LENGTH, round), "the message");
        MPI_Barrier(comm);
        if (round > 0)
            check_delay();
    }
    MPI_Comm_free(&comm);
    return check_end();
}
