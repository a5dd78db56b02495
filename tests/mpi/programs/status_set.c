/* SPDX-License-Identifier: MIT */
/* Claim: what the program writes into the status of a receive stays there.
 * defers: receive
 * passes: nothing */
#include "check.h"

enum { LENGTH = 400000, TIMES = 3 };
enum way { CANCELLED, ELEMENTS, ELEMENTS_X, BOTH, WAYS };

static bool is_cancelled(const MPI_Status *status)
{
    int flag = -1;
    MPI_Test_cancelled(status, &flag);
    return flag == 1;
}

static int count_of(const MPI_Status *status, MPI_Datatype type)
{
    int count = -1;
    MPI_Get_count(status, type, &count);
    return count;
}

static void status_change(MPI_Status *status, enum way way)
{
    if (way == CANCELLED || way == BOTH)
        MPI_Status_set_cancelled(status, 1);
    if (way == ELEMENTS || way == BOTH)
        MPI_Status_set_elements(status, MPI_INT, 3);
    if (way == ELEMENTS_X)
        MPI_Status_set_elements_x(status, MPI_INT, 3);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (int i = 0; i < WAYS * TIMES; i++) {
        enum way way = (enum way)(i % WAYS);
        if (check_rank() == 1) {
            check_delay();
            check_send(buffer, LENGTH, 0, i);
            continue;
        }
        MPI_Status status = {.MPI_ERROR = 77};
        MPI_Recv(buffer, LENGTH, MPI_BYTE, 1, i, MPI_COMM_WORLD, &status);
        status_change(&status, way);
        MPI_Status copy = status;
        check(is_cancelled(&copy) == (way == CANCELLED || way == BOTH), "cancelled as the program says");
        if (way != CANCELLED)
            check(count_of(&copy, MPI_INT) == 3, "elements as the program says");
        else
            check(count_of(&copy, MPI_BYTE) == LENGTH, "elements as received");
        check(copy.MPI_SOURCE == 1 && copy.MPI_TAG == i && copy.MPI_ERROR == 77, "the rest as it was");
    }
    return check_end();
}
