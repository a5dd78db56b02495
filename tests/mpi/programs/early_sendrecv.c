/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv and MPI_Sendrecv_replace get a message that was received early, and send theirs.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { ROUNDS = 4, DATA = 2, LENGTH = 900000 };

static void exchange(unsigned char *out, unsigned char *in, int is_replacing, MPI_Status *status)
{
    int peer = 1 - check_rank();
    if (is_replacing)
        MPI_Sendrecv_replace(out, LENGTH, MPI_BYTE, peer, DATA, peer, DATA, MPI_COMM_WORLD, status);
    else
        MPI_Sendrecv(out, LENGTH, MPI_BYTE, peer, DATA, in, LENGTH, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, status);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(LENGTH), *in = check_buffer_new(LENGTH);
    int peer = 1 - check_rank();
    for (int round = 0; round < ROUNDS; round++) {
        int is_replacing = round >= 2, count = -1;
        MPI_Status status;
        check_fill(out, LENGTH, (unsigned)(2 * round + check_rank()));
        if (round % 2 == check_rank())
            check_delay();
        exchange(out, in, is_replacing, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        check(count == LENGTH && status.MPI_SOURCE == peer, "the status");
        check(check_is_filled(is_replacing ? out : in, LENGTH, (unsigned)(2 * round + peer)), "the peer's bytes");
    }
    return check_end();
}
