/* SPDX-License-Identifier: MIT */
/* Claim: whatever a rank does after a collective, others learn of it after what the ranks did before whose data it got.
 * ranks: 3
 * arguments: bcast/small bcast/large bcast/receive allreduce/small allreduce/large alltoallv/large
 * quick: userfaultfd-user signal-1
 * timeout: 90 */
#include "check.h"

enum { TOKEN = 1, BACK = 2, ROUNDS = 8, COUNT = 1 << 18, LARGE = COUNT * sizeof(int) };
enum { EARLY, LATE, WITNESS };

static const char *way;
static MPI_Comm pair; /* EARLY and LATE */

static bool is_way(const char *name)
{
    return strstr(way, name) != NULL;
}

static void meet(int *in, int *out)
{
    int counts[2] = {COUNT / 2, COUNT / 2}, places[2] = {0, COUNT / 2};
    if (is_way("bcast"))
        MPI_Bcast(out, COUNT, MPI_INT, LATE, pair);
    else if (is_way("allreduce"))
        MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_MAX, pair);
    else
        MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, pair);
}

/* With "receive" what is received in between starts in its turn, too. */
static void tell(unsigned char *token)
{
    int own = check_rank();
    check_fill(token, LARGE, own);
    if (own == EARLY && is_way("receive"))
        check_recv(token + LARGE, LARGE, WITNESS, BACK);
    if (own == LATE)
        MPI_Ssend(token, LARGE, MPI_BYTE, WITNESS, TOKEN, MPI_COMM_WORLD);
    else
        MPI_Send(token, is_way("small") ? 1 : LARGE, MPI_BYTE, WITNESS, TOKEN, MPI_COMM_WORLD);
}

static void witness(unsigned char *buffer)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_way("receive"))
        MPI_Isend(buffer + LARGE, LARGE, MPI_BYTE, EARLY, BACK, MPI_COMM_WORLD, &request);
    check_recv(buffer, LARGE, MPI_ANY_SOURCE, TOKEN);
    check(buffer[0] == check_byte(0, LATE), "the late rank's message comes first");
    check_recv(buffer, LARGE, MPI_ANY_SOURCE, TOKEN);
    check(buffer[0] == check_byte(0, EARLY), "the other's message comes second");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void round_play(unsigned char *buffer, int *in, int *out, int round)
{
    if (check_rank() == WITNESS) {
        witness(buffer);
        return;
    }
    for (int i = 0; i < COUNT; i++)
        in[i] = round;
    if (check_rank() == LATE) {
        memcpy(out, in, LARGE);
        check_delay();
        tell(buffer);
    }
    meet(in, out);
    if (check_rank() == EARLY)
        tell(buffer);
    check(out[0] == round && out[COUNT - 1] == round, "the data");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    way = argv[1];
    unsigned char *buffer = check_buffer_new(2L * LARGE);
    int *in = (int *)check_buffer_new(LARGE), *out = (int *)check_buffer_new(LARGE);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank() == WITNESS, check_rank(), &pair);
    for (int round = 0; round < ROUNDS; round++) {
        round_play(buffer, in, out, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&pair);
    return check_end();
}
