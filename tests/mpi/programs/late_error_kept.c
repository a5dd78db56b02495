/* SPDX-License-Identifier: MIT */
/* Claim: the error of a truncated receive is returned by some later call, whose message still arrives whole, and whose
 * status is filled all the same. */
#include "check.h"

enum { LENGTH = 1 << 20, INTS = 15000, SMALL = 1000 };

static void message_kept(unsigned char *first, unsigned char *second)
{
    static int numbers[INTS];
    if (check_rank() == 0) {
        int worst = MPI_Recv(first, LENGTH / 2, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        worst |= MPI_Recv(second, LENGTH, MPI_BYTE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        volatile unsigned char touched = first[0];
        (void)touched;
        for (int i = 0; i < INTS; i++)
            numbers[i] = 1;
        worst |= MPI_Send(numbers, INTS, MPI_INT, 1, 7, MPI_COMM_WORLD);
        memset(numbers, 0, sizeof numbers);
        worst |= MPI_Barrier(MPI_COMM_WORLD);
        check(worst != MPI_SUCCESS, "the truncation is reported");
    } else {
        check_delay();
        MPI_Send(first, LENGTH, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        MPI_Send(second, LENGTH, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
        check_delay();
        MPI_Recv(numbers, INTS, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(numbers[0] == 1 && numbers[INTS - 1] == 1, "the later message is whole");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void status_filled(unsigned char *first)
{
    unsigned char small[SMALL], reply[SMALL];
    if (check_rank() == 1) {
        MPI_Send(first, LENGTH, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        check_delay();
        memset(small, 7, SMALL);
        MPI_Sendrecv(small, SMALL, MPI_BYTE, 0, 6, reply, SMALL, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Status status = {.MPI_SOURCE = -77, .MPI_TAG = -77};
    int count = -1, worst = MPI_Recv(first, LENGTH / 2, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    first[0]++; /* a touch: its error is there before the next call */
    memset(reply, 8, SMALL);
    worst |= MPI_Sendrecv(reply, SMALL, MPI_BYTE, 1, 6, small, SMALL, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &status);
    check(worst != MPI_SUCCESS, "the truncation is reported");
    check(status.MPI_SOURCE == 1 && status.MPI_TAG == 6, "source and tag");
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == SMALL && small[SMALL - 1] == 7, "count and message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned char *first = check_buffer_new(LENGTH), *second = check_buffer_new(LENGTH);
    message_kept(first, second);
    status_filled(first);
    return check_end();
}
