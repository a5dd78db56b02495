/* SPDX-License-Identifier: MIT */
/* Claim: what was received early belongs to its communicator: others do not see it, and a later one with the
 * same handle does not either.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { ROUNDS = 4, DATA = 2, LENGTH = 300000 };

static void round_play(MPI_Comm comm, unsigned char *buffer, unsigned seed)
{
    MPI_Request request;
    if (check_rank() == 1) {
        check_fill(buffer, LENGTH, seed);
        check_fill(buffer + LENGTH, LENGTH, seed + 1);
        MPI_Isend(buffer, LENGTH, MPI_BYTE, 0, DATA, comm, &request);
        check_send(buffer + LENGTH, LENGTH, 0, DATA);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        check_recv_late(buffer, LENGTH, seed + 1, 1, DATA, "the world's message");
        MPI_Recv(buffer, LENGTH, MPI_BYTE, 1, DATA, comm, MPI_STATUS_IGNORE);
        check(check_is_filled(buffer, LENGTH, seed), "the other communicator's message");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(2 * LENGTH);
    for (unsigned round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (unsigned i = 0; i < 3; i++)
            round_play(comm, buffer, 8 * round + 2 * i);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    return check_end();
}
