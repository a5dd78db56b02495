/* SPDX-License-Identifier: MIT */
/* Claim: a message too long for its buffer is reported as truncated where errors return, at once or by a later call;
 * and on a communicator of the program's own, MPI_COMM_WORLD's handler, which would end the job, does not hear of it.
 * (What lies beyond the buffer is not checked: Open MPI 4.1.4 over shared memory fetches the whole message there, with
 * no help from anybody.)
 * arguments: world-named world-wildcard own-named own-wildcard own-sendrecv */
#include "check.h"

enum { SENT = 1 << 20, ROOM = SENT / 2, TAG = 5 };

static int receive(const char *way, unsigned char *buffer, MPI_Comm comm)
{
    MPI_Status status;
    if (strcmp(way, "named") == 0)
        return MPI_Recv(buffer, ROOM, MPI_BYTE, 1, TAG, comm, &status);
    if (strcmp(way, "wildcard") == 0)
        return MPI_Recv(buffer, ROOM, MPI_BYTE, MPI_ANY_SOURCE, TAG, comm, &status);
    return MPI_Sendrecv(NULL, 0, MPI_BYTE, 1, TAG, buffer, ROOM, MPI_BYTE, 1, TAG, comm, &status);
}

static void send(const char *way, unsigned char *buffer, MPI_Comm comm)
{
    check_delay();
    MPI_Send(buffer, SENT, MPI_BYTE, 0, TAG, comm);
    if (strcmp(way, "sendrecv") == 0)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    check_start(&argc, &argv);
    const char *way = strchr(argv[1], '-') + 1;
    unsigned char *buffer = check_buffer_new(SENT);
    if (strncmp(argv[1], "own", 3) == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    if (check_rank() == 1) {
        send(way, buffer, comm);
        return check_end();
    }
    int error = receive(way, buffer, comm);
    buffer[0]++; /* a touch: the op is over now */
    check(check_class_or_late(error, comm) == MPI_ERR_TRUNCATE, "the receive, or the next call, reports it");
    return check_end();
}
