/* SPDX-License-Identifier: MIT */
/* Claim: a type may be freed, and its handle given to another one, while messages of it are under way.
 * defers: receive */
#include "check.h"

enum { ROWS = 200, COLUMNS = 500, ROUNDS = 8 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *matrix[ROUNDS], rank = check_rank();
    for (int i = 0; i < ROUNDS; i++) {
        matrix[i] = malloc(sizeof(int) * ROWS * COLUMNS);
        for (int at = 0; at < ROWS * COLUMNS; at++)
            matrix[i][at] = rank == 0 ? at + i : -1;
    }
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Datatype type;
        MPI_Type_vector(ROWS, COLUMNS / 2 + i, COLUMNS, MPI_INT, &type);
        MPI_Type_commit(&type);
        if (rank == 0)
            check_delay();
        if (rank == 0)
            MPI_Send(matrix[i], 1, type, 1, i, MPI_COMM_WORLD);
        else
            MPI_Recv(matrix[i], 1, type, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    }
    for (int i = 0; rank == 1 && i < ROUNDS; i++) {
        for (int at = 0; at < ROWS * COLUMNS; at++)
            check(matrix[i][at] == (at % COLUMNS < COLUMNS / 2 + i ? at + i : -1), "each with its own layout");
    }
    return check_end();
}
