/* SPDX-License-Identifier: MIT */
/* Claim: lapwing_progress() carries operations on, and does nothing without Lapwing.
 * flags: -Iinclude
 * assists: any */
#include "check.h"
#include "lapwing.h"

enum { LENGTH = CHECK_LARGE_BYTES, POKES = 2000 };

static void compute_with_pokes(void)
{
    volatile double x = 1;
    for (int i = 0; i < POKES; i++) {
        for (int j = 0; j < 1000; j++)
            x = x * 0.999;
        lapwing_progress();
    }
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    check_start(&argc, &argv);
    unsigned char *sent = check_buffer_new(LENGTH);
    unsigned char *received = check_buffer_new(LENGTH);
    int peer = check_rank() ^ 1;
    lapwing_progress();
    check_fill(sent, LENGTH, (unsigned)check_rank());
    MPI_Irecv(received, LENGTH, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LENGTH, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    compute_with_pokes();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(check_is_filled(received, LENGTH, (unsigned)peer), "the peer's message");
    lapwing_progress();
    return check_end();
}
