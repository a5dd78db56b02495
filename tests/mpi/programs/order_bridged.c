/* SPDX-License-Identifier: MIT */
/* Claim: a pair of ranks of which one alone spawns a third process keeps order for it, once all three are joined: what
 * is sent after a receive does not overtake, at the third, what the sender had sent there before.
 * quick: openmpi4
 * timeout: 60 */
#include "check.h"

enum { TOKEN = 1, DATA = 2, BRIDGE = 3, ROUNDS = 3 };
enum { RECEIVER, SENDER, WITNESS };

/* By whom: the spawned process, the rank that has spawned it, or the other rank, which joins them. */
static MPI_Comm share(MPI_Comm with_spawned, bool is_spawned)
{
    MPI_Comm own = MPI_COMM_SELF, bridged, all;
    bool is_joining = with_spawned == MPI_COMM_NULL;
    if (!is_joining)
        MPI_Intercomm_merge(with_spawned, is_spawned, &own);
    MPI_Intercomm_create(own, 0, is_spawned ? MPI_COMM_NULL : MPI_COMM_WORLD, is_joining ? SENDER : RECEIVER, BRIDGE,
                         &bridged);
    MPI_Intercomm_merge(bridged, !is_joining, &all);
    MPI_Comm_free(&bridged);
    return all;
}

/* Before the tokens come: in a spawned process a receive by MPI_ANY_SOURCE of MPICH 5.0 waits for ever if its message
 * is there already, without Lapwing, too. */
static void witness(MPI_Comm all)
{
    int tokens[2] = {-1, -1};
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&tokens[i], 1, MPI_INT, MPI_ANY_SOURCE, TOKEN, all, &requests[i]);
    MPI_Barrier(all);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(tokens[0] == SENDER && tokens[1] == RECEIVER, "the sender's token comes first");
}

/* The sender's token has been matched when its MPI_Ssend returns. */
static void round_play(MPI_Comm all, int own, unsigned char *buffer)
{
    if (own == WITNESS) {
        witness(all);
        return;
    }
    MPI_Barrier(all);
    if (own == SENDER) {
        check_delay();
        MPI_Ssend(&own, 1, MPI_INT, WITNESS, TOKEN, all);
        MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, RECEIVER, DATA, all);
    } else {
        MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, SENDER, DATA, all, MPI_STATUS_IGNORE);
        MPI_Send(&own, 1, MPI_INT, WITNESS, TOKEN, all);
    }
}

static void rounds_play(MPI_Comm all)
{
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int own;
    MPI_Comm_rank(all, &own);
    for (int round = 0; round < ROUNDS; round++)
        round_play(all, own, buffer);
    MPI_Barrier(all); /* as in check_with_spawned() */
    MPI_Comm_free(&all);
}

/* False on both ranks where this MPI cannot spawn. */
static bool spawn(char *program, MPI_Comm *spawned)
{
    int is_spawned = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (check_rank() == SENDER)
        is_spawned = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, spawned,
                                    MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
    MPI_Bcast(&is_spawned, 1, MPI_INT, SENDER, MPI_COMM_WORLD);
    return is_spawned;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm other;
    MPI_Comm_get_parent(&other);
    bool is_spawned = other != MPI_COMM_NULL;
    if (!is_spawned && !spawn(argv[0], &other)) {
        MPI_Finalize();
        return check_skip("this MPI cannot spawn");
    }
    rounds_play(share(other, is_spawned));
    if (other != MPI_COMM_NULL)
        MPI_Comm_disconnect(&other);
    if (!is_spawned)
        return check_end();
    MPI_Finalize();
    return 0;
}
