/* SPDX-License-Identifier: MIT */
/* Claim: messages that were received early keep their bytes, statuses and order, by name and with wildcards,
 * between small ones that were not.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { ROUNDS = 4, OTHER = 1, DATA = 2, LENGTH = 777777, SMALL = 3 };

static void sends(unsigned char *buffers, unsigned round)
{
    MPI_Request requests[4];
    for (unsigned i = 0; i < 4; i++) {
        unsigned char *buffer = buffers + i * LENGTH;
        int length_bytes = i == 2 ? SMALL : LENGTH - (int)i;
        check_fill(buffer, (size_t)length_bytes, 4 * round + i);
        MPI_Isend(buffer, length_bytes, MPI_BYTE, 0, i == 1 ? OTHER : DATA, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void receive(unsigned char *buffer, int source, int tag, unsigned seed, int tag_expected, int length_expected)
{
    MPI_Status status;
    int count = -1;
    MPI_Recv(buffer, LENGTH, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(status.MPI_SOURCE == 1 && status.MPI_TAG == tag_expected, "where it comes from");
    check(count == length_expected, "its length");
    check(check_is_filled(buffer, (size_t)length_expected, seed), "its bytes");
}

static void receives(unsigned char *buffer, unsigned round)
{
    int is_any = round % 2 == 1;
    check_delay();
    receive(buffer, is_any ? MPI_ANY_SOURCE : 1, DATA, 4 * round, DATA, LENGTH);
    if (round < 2)
        receive(buffer, 1, OTHER, 4 * round + 1, OTHER, LENGTH - 1);
    receive(buffer, 1, DATA, 4 * round + 2, DATA, SMALL);
    if (round >= 2)
        receive(buffer, MPI_ANY_SOURCE, is_any ? MPI_ANY_TAG : OTHER, 4 * round + 1, OTHER, LENGTH - 1);
    receive(buffer, 1, is_any ? MPI_ANY_TAG : DATA, 4 * round + 3, DATA, LENGTH - 3);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(4 * LENGTH + 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (check_rank() == 1)
            sends(buffer + 1, round);
        else
            receives(buffer + 1, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
