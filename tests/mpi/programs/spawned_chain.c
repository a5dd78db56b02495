/* SPDX-License-Identifier: MIT */
/* Claim: three processes of which some were spawned are three: what is sent after a receive does not overtake, at the
 * third, what the sender had sent there before.
 * timeout: 60 */
#include "check.h"

enum { TOKEN = 1, DATA = 2, ROUNDS = 3 };

static void round_play(MPI_Comm all, int own, unsigned char *buffer)
{
    int tokens[2] = {-1, -1};
    MPI_Request requests[2];
    /* Before the tokens come: in a spawned process a receive by MPI_ANY_SOURCE of MPICH 5.0 waits for ever if its
     * message is there already, without Lapwing, too. */
    for (int i = 0; i < 2 && own == 2; i++)
        MPI_Irecv(&tokens[i], 1, MPI_INT, MPI_ANY_SOURCE, TOKEN, all, &requests[i]);
    MPI_Barrier(all);
    if (own == 1) {
        check_delay();
        MPI_Ssend(&own, 1, MPI_INT, 2, TOKEN, all); /* returns when rank 2's first receive has matched it */
        MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, DATA, all);
    } else if (own == 0) {
        MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, DATA, all, MPI_STATUS_IGNORE);
        MPI_Send(&own, 1, MPI_INT, 2, TOKEN, all);
    } else {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        check(tokens[0] == 1 && tokens[1] == 0, "rank 1's token comes first");
    }
}

static void rounds_play(MPI_Comm all)
{
    int own;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_rank(all, &own);
    for (int round = 0; round < ROUNDS; round++)
        round_play(all, own, buffer);
}

int main(int argc, char **argv)
{
    return check_with_spawned(argc, argv, rounds_play);
}
