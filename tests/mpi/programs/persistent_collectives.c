/* SPDX-License-Identifier: MIT */
/* Claim: persistent collectives and partitioned messages are waited for as with MPI alone, beside a message under way.
 * defers: receive */
#include "check.h"

#if MPI_VERSION >= 4
enum { LENGTH = 1 << 20, NUMBERS = 64, ROUNDS = 5, KINDS = 4 };

static struct {
    unsigned char message[LENGTH];
    int shared[NUMBERS], sums[NUMBERS], numbers[NUMBERS], part[NUMBERS];
} m __attribute__((aligned(4096)));

static MPI_Request requests[KINDS];

static void make_requests(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Bcast_init(m.shared, NUMBERS, MPI_INT, 1, world, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(m.numbers, m.sums, NUMBERS, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[1]);
    MPI_Barrier_init(world, MPI_INFO_NULL, &requests[2]);
    if (check_rank() == 1)
        MPI_Psend_init(m.part, 1, NUMBERS, MPI_INT, 0, 1, world, MPI_INFO_NULL, &requests[3]);
    else
        MPI_Precv_init(m.part, 1, NUMBERS, MPI_INT, 1, 1, world, MPI_INFO_NULL, &requests[3]);
}

static void fill(int round)
{
    for (int i = 0; i < NUMBERS; i++) {
        m.shared[i] = m.part[i] = check_rank() == 1 ? round + i : -1;
        m.numbers[i] = check_rank() + round;
    }
}

static bool is_right(int round)
{
    for (int i = 0; i < NUMBERS; i++) {
        if (m.shared[i] != round + i || m.part[i] != round + i || m.sums[i] != 2 * round + 1)
            return false;
    }
    return true;
}

static void turn(int round)
{
    fill(round);
    MPI_Startall(KINDS, requests);
    if (check_rank() == 0) {
        check_recv(m.message, LENGTH, 1, 0);
    } else {
        MPI_Pready(0, requests[3]);
        check_fill(m.message, LENGTH, (unsigned)round);
        check_delay();
        check_send(m.message, LENGTH, 0, 0);
    }
    check(MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "the wait");
    check(is_right(round), "what they brought");
    check(check_is_filled(m.message, LENGTH, (unsigned)round), "message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    make_requests();
    for (int round = 0; round < ROUNDS; round++)
        turn(round);
    for (int i = 0; i < KINDS; i++)
        MPI_Request_free(&requests[i]);
    return check_end();
}
#else
int main(void)
{
    return check_skip("skipped: this MPI has none of MPI 4.0's");
}
#endif
