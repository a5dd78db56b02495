/* SPDX-License-Identifier: MIT */
/* Claim: a message too long for its buffer is reported as truncated where errors return, at once or by a later call;
 * and on a communicator of the program's own, MPI_COMM_WORLD's handler, which would end the job, does not hear of it.
 * (What lies beyond the buffer is not checked: Open MPI 4.1.4 over shared memory fetches the whole message there, with
 * no help from anybody.) */
#include "check.h"

enum { SENT = 1 << 20, ROOM = SENT / 2, TAG = 5 };
enum way { NAMED, WILDCARD, SENDRECV, WAYS };

static int receive(enum way way, unsigned char *buffer, MPI_Comm comm)
{
    MPI_Status status;
    if (way == SENDRECV)
        return MPI_Sendrecv(NULL, 0, MPI_BYTE, 1, TAG, buffer, ROOM, MPI_BYTE, 1, TAG, comm, &status);
    return MPI_Recv(buffer, ROOM, MPI_BYTE, way == NAMED ? 1 : MPI_ANY_SOURCE, TAG, comm, &status);
}

static void send(enum way way, unsigned char *buffer, MPI_Comm comm)
{
    check_delay();
    MPI_Send(buffer, SENT, MPI_BYTE, 0, TAG, comm);
    if (way == SENDRECV)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
}

static void truncate_on(MPI_Comm comm, unsigned char *buffer)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (enum way way = NAMED; way < WAYS; way++) {
        MPI_Barrier(comm);
        if (check_rank() == 1) {
            send(way, buffer, comm);
            continue;
        }
        int error = receive(way, buffer, comm);
        buffer[0]++; /* a touch: the op is over now */
        check(check_class_or_late(error, comm) == MPI_ERR_TRUNCATE, "the receive, or the next call, reports it");
    }
}

int main(int argc, char **argv)
{
    MPI_Comm own;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(SENT);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    truncate_on(own, buffer);
    truncate_on(MPI_COMM_WORLD, buffer);
    return check_end();
}
