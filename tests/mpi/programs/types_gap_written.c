/* SPDX-License-Identifier: MIT */
/* Claim: what the program writes into the gaps of a message under way stays there.
 * defers: receive */
#include "check.h"

enum { ROWS = 256, COLUMNS = 512 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *matrix = malloc(sizeof(int) * ROWS * COLUMNS);
    MPI_Datatype left;
    MPI_Type_vector(ROWS, COLUMNS / 2, COLUMNS, MPI_INT, &left);
    MPI_Type_commit(&left);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = 2 * i + check_rank();
    if (check_rank() == 1) {
        check_delay();
        MPI_Send(matrix, 1, left, 0, 0, MPI_COMM_WORLD);
        for (int i = 0; i < ROWS; i++)
            matrix[i * COLUMNS + COLUMNS - 1] = 7; /* a gap of the send: other pages, or a wait */
        MPI_Recv(matrix + COLUMNS / 2, 1, left, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            check(matrix[i] == (i % COLUMNS < COLUMNS / 2 ? 2 * i + 1 : -i),
                  "the second message, in the gaps of the first");
    } else {
        MPI_Recv(matrix, 1, left, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            if (i % COLUMNS >= COLUMNS / 2)
                matrix[i] = -i;
        }
        MPI_Send(matrix + COLUMNS / 2, 1, left, 1, 1, MPI_COMM_WORLD);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            check(matrix[i] == (i % COLUMNS < COLUMNS / 2 ? 2 * i + 1 : -i), "message and gaps");
    }
    MPI_Type_free(&left);
    return check_end();
}
