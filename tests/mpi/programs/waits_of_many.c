/* SPDX-License-Identifier: MIT */
/* Claim: one wait for more than 64 requests ends all of them, beside a send under way, whatever the first one is: a
 * plain receive, none, a collective, or a persistent receive, which may start again. MPICH's MPI_Testall may not.
 * arguments: plain none collective persistent
 * defers: send
 * quick: mpich4 mpich5 userfaultfd */
#include "check.h"

enum { REQUESTS = 70, ROUNDS = 2, LENGTH = CHECK_LARGE_BYTES };

static MPI_Request requests[REQUESTS];
static int sent[REQUESTS], received[REQUESTS];

static bool is(const char *kind, const char *wanted)
{
    return strcmp(kind, wanted) == 0;
}

/* How many of the requests are no plain receives. */
static int begin_first(const char *kind, int round)
{
    if (is(kind, "none"))
        requests[0] = MPI_REQUEST_NULL;
    if (is(kind, "collective"))
        MPI_Ibarrier(MPI_COMM_SELF, &requests[0]);
    if (is(kind, "persistent") && round == 0)
        MPI_Recv_init(&received[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    if (is(kind, "persistent"))
        check(MPI_Start(&requests[0]) == MPI_SUCCESS, "it starts again");
    return is(kind, "plain") ? 0 : 1;
}

static void begin_all(const char *kind, int round)
{
    int plain = begin_first(kind, round);
    for (int i = plain; i < REQUESTS; i++)
        MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = is(kind, "persistent") ? 0 : plain; i < REQUESTS; i++) {
        sent[i] = (round + 1) * REQUESTS + i;
        MPI_Send(&sent[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
}

static void wait_all(const char *kind)
{
    check(MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "the wait");
    check(memcmp(sent, received, sizeof sent) == 0, "what came");
    for (int i = is(kind, "persistent"); i < REQUESTS; i++)
        check(requests[i] == MPI_REQUEST_NULL, "a request that is over is none");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const char *kind = argc > 1 ? argv[1] : "plain";
    unsigned char *large = check_buffer_new(LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 1) {
            check_delay();
            check_recv(large, LENGTH, 0, REQUESTS);
        } else if (check_rank() == 0) {
            begin_all(kind, round);
            check_send(large, LENGTH, 1, REQUESTS);
            wait_all(kind);
        }
    }
    if (check_rank() == 0 && is(kind, "persistent"))
        MPI_Request_free(&requests[0]);
    return check_end();
}
