/* SPDX-License-Identifier: MIT */
/* Claim: the error of a truncated receive is returned by some later call, and the
 * message of that call still arrives whole. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { LENGTH = 1 << 20, INTS = 15000 };
    static int numbers[INTS];
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned char *first = check_buffer_new(LENGTH);
    unsigned char *second = check_buffer_new(LENGTH);
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
    return check_end();
}
