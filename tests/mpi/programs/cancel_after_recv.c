/* SPDX-License-Identifier: MIT */
/* Claim: a receive whose message was sent before another that has been received is not cancelled.
 * defers: receive */
#include "check.h"

enum { SMALL = 1, LARGE = 2 };

static void send_both(unsigned char *buffer)
{
    int word = 42;
    check_fill(buffer, CHECK_LARGE_BYTES, 7);
    check_delay();
    MPI_Ssend(&word, 1, MPI_INT, 0, SMALL, MPI_COMM_WORLD);
    check_send(buffer, CHECK_LARGE_BYTES, 0, LARGE);
}

/* MPI_Ssend has returned when the second message is sent: the first has been matched. */
static void cancel_first(unsigned char *buffer)
{
    int word = 0, is_cancelled = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&word, 1, MPI_INT, 1, SMALL, MPI_COMM_WORLD, &request);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, LARGE);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    check(!is_cancelled && word == 42, "the first message");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 7), "the second message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1)
        send_both(buffer);
    else
        cancel_first(buffer);
    return check_end();
}
