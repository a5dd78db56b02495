/* SPDX-License-Identifier: MIT */
/* Claim: messages into the gaps of each other's types, blocking and not, arrive whole. */
#include "check.h"

enum { ROWS = 256, COLUMNS = 512 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *matrix = malloc(sizeof(int) * ROWS * COLUMNS), *source = malloc(sizeof(int) * ROWS * COLUMNS);
    MPI_Datatype half;
    int peer = 1 - check_rank();
    MPI_Type_vector(ROWS, COLUMNS / 2, COLUMNS, MPI_INT, &half);
    MPI_Type_commit(&half);
    for (int round = 0; round < 6; round++) {
        MPI_Request requests[2];
        for (int i = 0; i < ROWS * COLUMNS; i++)
            source[i] = i + round;
        memset(matrix, 0xFF, sizeof(int) * ROWS * COLUMNS);
        MPI_Irecv(matrix, 1, half, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(source, 1, half, peer, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Sendrecv(source + COLUMNS / 2, 1, half, peer, 1, matrix + COLUMNS / 2, 1, half, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (round % 2 == 0)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (round % 2 != 0)
            check(matrix[ROWS * COLUMNS - 1] == ROWS * COLUMNS - 1 + round, "the blocking message");
        if (round % 2 != 0)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            check(matrix[i] == i + round, "both messages");
    }
    MPI_Type_free(&half);
    return check_end();
}
