/* SPDX-License-Identifier: MIT */
/* Claim: vectors, resized and contiguous types arrive as laid out, and gaps stay as they were. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { ROWS = 700, COLUMNS = 300 };
    double *matrix = malloc(sizeof(double) * ROWS * COLUMNS);
    MPI_Datatype column, block;
    MPI_Type_vector(ROWS, COLUMNS / 2, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_contiguous(ROWS * COLUMNS / 4, MPI_INT, &block);
    MPI_Type_commit(&column);
    MPI_Type_commit(&block);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = check_rank() == 0 ? i : -1;
    if (check_rank() == 0) {
        MPI_Send(matrix, 1, column, 1, 0, MPI_COMM_WORLD);
        memset(matrix, 0x44, 1000);
        MPI_Send(matrix, 1, block, 1, 1, MPI_COMM_WORLD);
        MPI_Type_free(&block);
        memset(matrix, 0x45, 1000);
    } else {
        MPI_Recv(matrix, 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            check(matrix[i] == (i % COLUMNS < COLUMNS / 2 ? i : -1), "half of each row");
        MPI_Recv(matrix, 1, block, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Type_free(&block); /* allowed while the receive is pending */
        check(((unsigned char *)matrix)[999] == 0x44 && matrix[200] == 200, "the contiguous block");
    }
    MPI_Type_free(&column);
    return check_end();
}
