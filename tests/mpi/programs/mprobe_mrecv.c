/* SPDX-License-Identifier: MIT */
/* Claim: messages matched by MPI_Mprobe and MPI_Improbe are received by MPI_Mrecv as
 * they were matched, in any order, with their statuses. (Over shared memory a matched
 * message is there at once; over TCP, OMPI_MCA_btl=tcp,self, it is received late.) */
#include "check.h"

enum { COUNT = 6, LENGTH = 400000 };

static void match(int tag, MPI_Message *message, MPI_Status *status)
{
    int is_found = 0;
    if (tag % 2 == 0)
        MPI_Mprobe(0, tag, MPI_COMM_WORLD, message, status);
    while (tag % 2 != 0 && !is_found)
        MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &is_found, message, status);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffers[COUNT];
    MPI_Message messages[COUNT];
    MPI_Request requests[COUNT];
    for (int i = 0; i < COUNT; i++)
        buffers[i] = check_buffer_new(LENGTH);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
            check_fill(buffers[i], LENGTH - i, 7 * round + i);
            MPI_Isend(buffers[i], LENGTH - i, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
        }
        if (check_rank() == 0)
            MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; check_rank() == 1 && i < COUNT; i++)
            match(i, &messages[i], i % 3 == 0 ? MPI_STATUS_IGNORE : &(MPI_Status){0});
        for (int i = COUNT - 1; check_rank() == 1 && i >= 0; i--) {
            MPI_Status status = {.MPI_TAG = -7};
            int count;
            MPI_Mrecv(buffers[i], LENGTH, MPI_BYTE, &messages[i], i == 2 ? MPI_STATUS_IGNORE : &status);
            check(messages[i] == MPI_MESSAGE_NULL, "the handle is null");
            MPI_Get_count(&status, MPI_BYTE, &count);
            check(i == 2 || (status.MPI_TAG == i && status.MPI_SOURCE == 0 && count == LENGTH - i), "the status");
        }
        for (int i = 0; check_rank() == 1 && i < COUNT; i++)
            check(check_is_filled(buffers[i], LENGTH - i, 7 * round + i), "the message");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
