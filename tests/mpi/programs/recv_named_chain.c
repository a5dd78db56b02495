/* SPDX-License-Identifier: MIT */
/* Claim: what is sent after a receive from a named rank cannot overtake what that rank sent to a third one before.
 * ranks: 3 */
#include "check.h"

enum { TOKEN = 1, DATA = 2, ROUNDS = 3 };

/* MPI_Ssend returns when rank 2's first receive has matched it: rank 0's token comes second. */
static void round_play(unsigned char *buffer, int round)
{
    int first = -1, second = -1, own = check_rank();
    if (own == 1) {
        check_delay();
        MPI_Ssend(&own, 1, MPI_INT, 2, TOKEN, MPI_COMM_WORLD);
        check_fill(buffer, CHECK_LARGE_BYTES, (unsigned)round);
        check_send(buffer, CHECK_LARGE_BYTES, 0, DATA);
    } else if (own == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, DATA);
        MPI_Send(&own, 1, MPI_INT, 2, TOKEN, MPI_COMM_WORLD);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, (unsigned)round), "the message");
    } else {
        MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(first == 1 && second == 0, "rank 1's token comes first");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        round_play(buffer, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
