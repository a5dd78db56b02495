/* SPDX-License-Identifier: MIT */
/* Claim: where a thread of MPI's or a peer may write into the buffer of a receive, its wait does not return early.
 * arguments: thread put
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * defers: nothing */
#include "check.h"

enum { LARGE = CHECK_LARGE_BYTES, DATA = 1 };

static void receive(unsigned char *buffer)
{
    MPI_Request request;
    MPI_Irecv(buffer, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, LARGE, 1), "the message");
}

/* MPI_Test never returns early. */
static void send(unsigned char *buffer)
{
    MPI_Request request;
    int is_over = 0;
    check_fill(buffer, LARGE, 1);
    check_delay();
    MPI_Isend(buffer, LARGE, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &request);
    while (!is_over)
        MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
}

/* Open MPI's name for the scheme, with which MPICH, which hangs now and then where peers put, does as ever. */
int main(int argc, char **argv)
{
    bool is_thread = argc > 1 && strcmp(argv[1], "thread") == 0;
    setenv(is_thread ? "OMPI_MCA_btl_tcp_progress_thread" : "MPI_UCX_RNDV_SCHEME", is_thread ? "1" : "put_zcopy", 1);
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LARGE);
    if (check_rank() == 0)
        receive(buffer);
    else
        send(buffer);
    return check_end();
}
