/* SPDX-License-Identifier: MIT */
/* Claim: while a send whose request the program has freed is under way, the program's own reduction function is only
 * run by the program's thread; what is sent arrives as it was, and may be written afterwards.
 * quick: openmpi4 mpich4 userfaultfd
 * passes: callback */
#include "check.h"
#include "home_sum.h"

enum { ROUNDS = 5, COUNT = 4 };

static void reduce(MPI_Op operation, MPI_Request *request)
{
    static const int ones[COUNT] = {1, 1, 1, 1};
    static int sums[COUNT];
    MPI_Iallreduce(ones, sums, COUNT, MPI_INT, operation, MPI_COMM_WORLD, request);
}

static void rank_send(MPI_Op operation, unsigned char *buffer)
{
    MPI_Request send, reduction;
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send);
    reduce(operation, &reduction);
    check_delay(); /* the peer's part comes meanwhile */
    check_delay();
    check_delay();
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    check_send(buffer, 1, 1, 2);
}

/* The message only when the reduction is over. */
static void rank_receive(MPI_Op operation, unsigned char *buffer, unsigned round)
{
    MPI_Request reduction;
    check_delay();
    reduce(operation, &reduction);
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    check_recv(buffer, 1, 0, 2);
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message as it was sent");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Op operation = home_sum_make();
    for (unsigned round = 1; round <= ROUNDS; round++) {
        if (check_rank() == 0) {
            check_fill(buffer, CHECK_LARGE_BYTES, round);
            rank_send(operation, buffer);
        } else {
            rank_receive(operation, buffer, round);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check(home_sum.elsewhere_count == 0, "never run by another thread");
    MPI_Op_free(&operation);
    return check_end();
}
