/* SPDX-License-Identifier: MIT */
/* Claim: on communicators where messages are matched by MPI_Mprobe, MPI_Improbe or persistent receives, none is
 * received early from then on.
 * arguments: mprobe improbe persistent
 * quick: default signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { ROUNDS = 4, DATA = 2, LENGTH = 300000 };

static void receive(const char *way, MPI_Comm comm, unsigned char *buffer)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    int is_found = strcmp(way, "improbe") != 0;
    if (strcmp(way, "mprobe") == 0)
        MPI_Mprobe(1, DATA, comm, &message, MPI_STATUS_IGNORE);
    while (!is_found)
        MPI_Improbe(MPI_ANY_SOURCE, DATA, comm, &is_found, &message, MPI_STATUS_IGNORE);
    if (strcmp(way, "persistent") != 0) {
        MPI_Mrecv(buffer, LENGTH, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Recv_init(buffer, LENGTH, MPI_BYTE, 1, DATA, comm, &request);
    check_delay();
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

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
            receive(argv[1], comm, buffer);
        check(check_is_filled(buffer, LENGTH, round), "the message");
        MPI_Barrier(comm);
        if (round > 0)
            check_delay();
    }
    MPI_Comm_free(&comm);
    return check_end();
}
