/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv_replace of a type with gaps swaps its elements and leaves the gaps alone.
 * defers: any */
#include "check.h"

enum { ROWS = 300, COLUMNS = 400, WIDTH = 200 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *matrix = malloc(sizeof(int) * ROWS * COLUMNS);
    int rank = check_rank(), peer = 1 - rank;
    MPI_Datatype half;
    MPI_Type_vector(ROWS, WIDTH, COLUMNS, MPI_INT, &half);
    MPI_Type_commit(&half);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = 2 * i + rank;
    MPI_Sendrecv_replace(matrix + 7, 1, half, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&half);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int column = i % COLUMNS;
        check(matrix[i] == 2 * i + (column >= 7 && column < 7 + WIDTH ? peer : rank), "element and gap");
    }
    return check_end();
}
