/* SPDX-License-Identifier: MIT */
/* Claim: a receive from MPI_ANY_SOURCE takes the message that was there, not one that was sent because it returned.
 * ranks: 3 */
#include "check.h"

/* Each round has its tag: on a busy machine rank 1 may begin the second before rank 2 has sent in the first. */
enum { LENGTH = 200000, GO = 1, DATA = 2 };

/* Rank 1's message is late; rank 2's can only follow the return of the first receive. */
static void receive_both(unsigned char *buffer)
{
    check_recv(buffer, LENGTH, MPI_ANY_SOURCE, DATA);
    check_send(buffer, 0, 2, GO);
    check_recv(buffer + LENGTH, LENGTH, MPI_ANY_SOURCE, DATA);
    check(check_is_filled(buffer, LENGTH, 1), "the first message is rank 1's");
    check(check_is_filled(buffer + LENGTH, LENGTH, 2), "the second message is rank 2's");
}

/* One's own message is always there at once. */
static void receive_own(unsigned char *buffer)
{
    MPI_Request request;
    check_recv(buffer, LENGTH, MPI_ANY_SOURCE, MPI_ANY_TAG);
    check_fill(buffer + LENGTH, LENGTH, 3);
    MPI_Isend(buffer + LENGTH, LENGTH, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &request);
    check_recv(buffer + 2 * LENGTH, LENGTH, 0, DATA);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, LENGTH, 1), "the first message is rank 1's");
    check(check_is_filled(buffer + 2 * LENGTH, LENGTH, 3), "the second message is one's own");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int rank = check_rank();
    unsigned char *buffer = check_buffer_new(3 * LENGTH);
    for (int round = 0; round < 2; round++) {
        check_fill(buffer, LENGTH, (unsigned)rank);
        if (rank == 0 && round == 0)
            receive_both(buffer);
        else if (rank == 0)
            receive_own(buffer);
        else if (rank == 2 && round == 0)
            check_recv(buffer, 0, 0, GO);
        if (rank == 1)
            check_delay();
        if (rank == 1 || (rank == 2 && round == 0))
            check_send(buffer, LENGTH, 0, DATA + round);
    }
    return check_end();
}
