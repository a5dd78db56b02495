/* SPDX-License-Identifier: MIT */
/* Claim: a receive whose message is too long for it may be freed before and after that is known, large or small:
 * nobody hears of its error, neither on its communicator nor on MPI_COMM_WORLD, whose handler would end the job.
 * arguments: large small
 * quick: openmpi4 mpich4 mpich5 mpi5abi impi */
#include "check.h"

enum { LARGE = 200000, SMALL = 100, DATA = 3, AFTER = 4, ROUNDS = 4 };

/* All of the message has room: Open MPI 4.1 writes past what the receive names. */
static void receive_and_free(unsigned char *buffer, int length, bool is_late, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Irecv(buffer, length / 2, MPI_BYTE, 0, DATA, comm, &request);
    if (is_late)
        check_recv(buffer + LARGE, 1, 0, AFTER);
    MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL, "the handle is null");
    if (!is_late)
        check_recv(buffer + LARGE, 1, 0, AFTER);
}

int main(int argc, char **argv)
{
    MPI_Comm own;
    check_start(&argc, &argv);
    int length = argc > 1 && strcmp(argv[1], "small") == 0 ? SMALL : LARGE;
    unsigned char *buffer = check_buffer_new(2 * LARGE);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 1) {
            receive_and_free(buffer, length, round % 2 != 0, own);
        } else if (check_rank() == 0) {
            check_delay();
            MPI_Send(buffer, length, MPI_BYTE, 1, DATA, own);
            check_send(buffer, 1, 1, AFTER);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        check_delay();
    }
    MPI_Comm_free(&own);
    return check_end();
}
