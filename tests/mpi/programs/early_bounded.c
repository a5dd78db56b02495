/* SPDX-License-Identifier: MIT */
/* Claim: more messages than there is memory for early receives wait with their senders, and nothing is lost.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on LAPWING_BUFFER=1MiB */
#include "check.h"

enum { ROUNDS = 3, MESSAGES = 6, DATA = 2, LENGTH = 400000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffers[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        buffers[i] = check_buffer_new(LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[MESSAGES];
        for (int i = 0; check_rank() == 1 && i < MESSAGES; i++) {
            check_fill(buffers[i], LENGTH, (unsigned)(round + i));
            MPI_Isend(buffers[i], LENGTH, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &requests[i]);
        }
        if (check_rank() == 1)
            MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
        else
            check_delay();
        for (int i = 0; check_rank() == 0 && i < MESSAGES; i++) {
            check_recv(buffers[i], LENGTH, 1, DATA);
            check(check_is_filled(buffers[i], LENGTH, (unsigned)(round + i)), "the message");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
