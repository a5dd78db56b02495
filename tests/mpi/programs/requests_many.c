/* SPDX-License-Identifier: MIT */
/* Claim: receives still return early after 20,000 requests were under way at once.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include "check.h"

/* Persistent ones are followed one by one, as small ones are once a message was held beside other data. */
enum { MANY = 20000, TIMES = 3, TAGS = 100 };

static unsigned char raw[CHECK_LARGE_BYTES + 3 * 4096];
static int values[MANY];
static MPI_Request requests[MANY];

static void large_exchange(unsigned char *buffer, unsigned seed)
{
    MPI_Barrier(MPI_COMM_WORLD);
    check_exchange_late(buffer, CHECK_LARGE_BYTES, seed, (int)seed);
}

static void small_exchange(void)
{
    for (int i = 0; i < MANY; i++) {
        values[i] = check_rank() == 1 ? i : -1;
        if (check_rank() == 0)
            MPI_Recv_init(&values[i], 1, MPI_INT, 1, TAGS, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Send_init(&values[i], 1, MPI_INT, 0, TAGS, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Startall(MANY, requests);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < MANY; i++)
        check(values[i] == i, "a small message");
}

int main(int argc, char **argv)
{
    unsigned char *buffer = raw + 4096 - (size_t)raw % 4096 + 100;
    check_start(&argc, &argv);
    small_exchange();
    for (unsigned i = 0; i < TIMES; i++)
        large_exchange(buffer, i);
    return check_end();
}
