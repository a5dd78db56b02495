/* SPDX-License-Identifier: MIT */
/* Claim: a message whose request was freed is there when MPI tells in another way that it was received; and a program
 * whose large nonblocking receive is never matched ends as it does without Lapwing.
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * defers: send */
#include "check.h"

enum { LARGE = CHECK_LARGE_BYTES, NEVER = 1, DATA = 2, TOKEN = 3 };

/* MPICH tells of such a receive, with addresses that differ from run to run. */
static bool may_leave(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return strncmp(version, "Open MPI", strlen("Open MPI")) == 0;
}

/* Only who has begun an op waits at the end of the process: the send becomes one. */
static void receive(unsigned char *in, unsigned char *never)
{
    MPI_Request request;
    check_send(in, LARGE, 1, TOKEN);
    if (may_leave())
        MPI_Irecv(never, LARGE, MPI_BYTE, 1, NEVER, MPI_COMM_WORLD, &request);
    MPI_Irecv(in, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request_free(&request);
    check_recv(NULL, 0, 1, TOKEN);
    MPI_Barrier(MPI_COMM_WORLD);
    check(check_is_filled(in, LARGE, 1), "the message");
}

/* Its synchronous send ends when the message is being received. */
static void send(unsigned char *out)
{
    check_delay();
    check_recv(out, LARGE, 0, TOKEN);
    check_fill(out, LARGE, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(out, LARGE, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
    check_send(NULL, 0, 0, TOKEN);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *in = check_buffer_new(LARGE), *never = check_buffer_new(LARGE);
    if (check_rank() == 0)
        receive(in, never);
    else
        send(in);
    return check_end();
}
