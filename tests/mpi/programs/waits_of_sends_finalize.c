/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Finalize right after the wait for a nonblocking send leaves its late receiver with the whole message.
 * defers: send */
#include "check.h"

/* One of 1 MiB was over at once under Intel MPI; where a machine is busy the receiver may be there first, now and then.
 */
enum { BYTES = 16 * CHECK_LARGE_BYTES, ROUNDS = 3 };

static void send_late(unsigned char *buffer)
{
    MPI_Request request;
    if (check_rank() == 0)
        check_fill(buffer, BYTES, 3);
    MPI_Barrier(MPI_COMM_WORLD); /* the receiver is late once the sender has something to send */
    if (check_rank() == 0) {
        MPI_Isend(buffer, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        check_recv_late(buffer, BYTES, 3, 0, 1, "the message");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(BYTES);
    for (int i = 0; i < ROUNDS; i++)
        send_late(buffer);
    return check_end();
}
