/* SPDX-License-Identifier: MIT */
/* Claim: a call that returns the late error of an earlier receive fills its own status all the same. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 1 << 20, SMALL = 1000 };
    unsigned char *first = check_buffer_new(LENGTH), small[SMALL], reply[SMALL];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check_rank() == 1) {
        MPI_Send(first, LENGTH, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        check_delay();
        memset(small, 7, SMALL);
        MPI_Sendrecv(small, SMALL, MPI_BYTE, 0, 6, reply, SMALL, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return check_end();
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
    return check_end();
}
