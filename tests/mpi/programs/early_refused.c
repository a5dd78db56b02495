/* SPDX-License-Identifier: MIT */
/* Claim: with early receives, a program that they would change ends with an error that names the call and
 * the option: synchronous sends of large messages, and matching by handles what was received early.
 * arguments: ssend issend ssend_init mprobe improbe recv_init
 * refused: Run without --early-receive
 * quick: openmpi4 mpich4 userfaultfd
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { DATA = 2, LENGTH = 300000 };

static void send(const char *way, unsigned char *buffer)
{
    MPI_Request request;
    if (strcmp(way, "ssend") == 0) {
        MPI_Ssend(buffer, LENGTH, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
        return;
    }
    if (strcmp(way, "issend") == 0) {
        MPI_Issend(buffer, LENGTH, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    if (strcmp(way, "ssend_init") != 0) {
        check_send(buffer, LENGTH, 0, DATA);
        return;
    }
    MPI_Ssend_init(buffer, LENGTH, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    if (check_rank() == 1) {
        check_send(buffer, LENGTH, 0, DATA);
        MPI_Barrier(MPI_COMM_WORLD);
        send(argv[1], buffer);
    } else {
        check_recv(buffer, LENGTH, 1, DATA);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 10; i++)
            check_delay();
        if (!check_recv_by_handle(argv[1], buffer, LENGTH, DATA, MPI_COMM_WORLD))
            check_recv(buffer, LENGTH, 1, DATA);
    }
    return check_end();
}
