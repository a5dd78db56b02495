/* SPDX-License-Identifier: MIT */
/* Claim: a message that was received early goes where the receive's datatype puts it, a short one leaves the
 * rest of its buffer alone, and one that is too long is an error of the receive.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { DATA = 2, ROWS = 40000, COLUMNS = 5, LENGTH = ROWS * 8 };

static void receive_column(double *matrix)
{
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Recv(matrix + 1, 1, column, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    for (int row = 0; row < ROWS; row++) {
        check(matrix[row * COLUMNS + 1] == row, "the column");
        check(matrix[row * COLUMNS] == -1 && matrix[row * COLUMNS + 2] == -1, "what lies between");
    }
}

static void receive_short(unsigned char *buffer)
{
    MPI_Status status;
    int count = -1;
    MPI_Recv(buffer, 2 * LENGTH, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    check(count == ROWS, "its length");
    check(buffer[LENGTH] == 0xEE && buffer[2 * LENGTH - 1] == 0xEE, "the rest of its buffer");
}

static void receive_cut(unsigned char *buffer)
{
    int class = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int result = MPI_Recv(buffer, LENGTH - 8, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100 && result == MPI_SUCCESS; i++)
        result = MPI_Barrier(MPI_COMM_SELF); /* one that returned early tells it later */
    MPI_Error_class(result, &class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    check(class == MPI_ERR_TRUNCATE, "the error"); /* stock Open MPI writes behind the buffer all the same */
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    double *matrix = malloc(sizeof(double) * ROWS * COLUMNS);
    unsigned char *buffer = check_buffer_new(2 * LENGTH);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = check_rank() == 1 ? i : -1;
    for (int round = 0; round < 4; round++) {
        if (check_rank() == 1)
            MPI_Send(matrix, ROWS, MPI_DOUBLE, 0, DATA, MPI_COMM_WORLD);
        else
            check_delay();
        if (check_rank() == 0 && round == 0)
            check_recv(matrix, LENGTH, 1, DATA); /* so that it is known */
        for (int i = 0; check_rank() == 0 && round == 0 && i < ROWS * COLUMNS; i++)
            matrix[i] = -1;
        if (check_rank() == 0 && round == 1)
            receive_column(matrix);
        if (check_rank() == 0 && round == 2)
            receive_short(buffer);
        if (check_rank() == 0 && round == 3)
            receive_cut(buffer);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
