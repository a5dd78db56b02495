/* SPDX-License-Identifier: MIT */
/* Claim: types with negative bounds and strides, and resized ones, carry their bytes.
 * defers: send receive */
#include "check.h"

enum { COUNT = 40000 };

/* Element i of the message lies before element i - 1. */
static MPI_Datatype backwards(void)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    return type;
}

/* All bytes lie before the address that is passed. */
static MPI_Datatype before(void)
{
    MPI_Datatype type;
    int length = COUNT, displacement = -COUNT;
    MPI_Type_indexed(1, &length, &displacement, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *numbers = (int *)check_buffer_new(sizeof(int) * COUNT);
    MPI_Datatype reverse = backwards(), below = before();
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COUNT; i++)
            numbers[i] = check_rank() == 0 ? i + round : -1;
        if (check_rank() == 0) {
            MPI_Send(numbers + COUNT - 1, COUNT, reverse, 1, 0, MPI_COMM_WORLD);
            MPI_Send(numbers + COUNT, 1, below, 1, 1, MPI_COMM_WORLD);
            continue;
        }
        MPI_Recv(numbers, COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            check(numbers[i] == COUNT - 1 - i + round, "sent backwards");
        memset(numbers, 0, sizeof(int) * COUNT);
        MPI_Recv(numbers + COUNT, 1, below, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            check(numbers[i] == i + round, "received below the address");
    }
    MPI_Type_free(&reverse);
    MPI_Type_free(&below);
    return check_end();
}
