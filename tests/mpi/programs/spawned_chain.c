/* SPDX-License-Identifier: MIT */
/* Claim: three processes of which some were spawned are three: what is sent after a receive does not overtake, at the
 * third, what the sender had sent there before.
 * timeout: 60 */
#include "check.h"

enum { TOKEN = 1, DATA = 2, ROUNDS = 3 };

static void round_play(MPI_Comm all, int own, unsigned char *buffer)
{
    int first = -1, second = -1;
    if (own == 1) {
        check_delay();
        MPI_Ssend(&own, 1, MPI_INT, 2, TOKEN, all); /* returns when rank 2's first receive has matched it */
        MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, DATA, all);
    } else if (own == 0) {
        MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, DATA, all, MPI_STATUS_IGNORE);
        MPI_Send(&own, 1, MPI_INT, 2, TOKEN, all);
    } else {
        MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, TOKEN, all, MPI_STATUS_IGNORE);
        MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, TOKEN, all, MPI_STATUS_IGNORE);
        check(first == 1 && second == 0, "rank 1's token comes first");
    }
}

static void rounds_play(MPI_Comm between, int is_child)
{
    MPI_Comm all;
    int own;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Intercomm_merge(between, is_child, &all);
    MPI_Comm_rank(all, &own);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(all);
        round_play(all, own, buffer);
    }
    /* MPICH 5.0's MPI_Comm_disconnect and MPI_Finalize do not wait until a small message has reached a spawned process:
     * without Lapwing, too, the last of a hundred sent to one that sleeps is lost, and its receive waits for ever. */
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        rounds_play(parent, 1);
        MPI_Finalize();
        return 0;
    }
    rounds_play(check_spawn(argv[0]), 0);
    return check_end();
}
