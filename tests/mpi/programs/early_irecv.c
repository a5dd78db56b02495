/* SPDX-License-Identifier: MIT */
/* Claim: a nonblocking receive gets a message that was received early, by every way to complete it, and with
 * its status.
 * takes: any
 * quick: default userfaultfd signal-1
 * environment: LAPWING_EARLY_RECEIVE=on */
#include "check.h"

enum { ROUNDS = 6, COUNT = 2, DATA = 2, LENGTH = 600000 };

static void complete(MPI_Request *requests, MPI_Status *statuses, int way)
{
    int is_over = 0, index = 0, over = 0, indices[COUNT];
    if (way == 0)
        MPI_Waitall(COUNT, requests, statuses);
    for (int i = 0; i < COUNT && way == 1; i++)
        MPI_Wait(&requests[i], &statuses[i]);
    for (int i = 0; i < COUNT && way == 2; i++, is_over = 0) {
        while (!is_over)
            MPI_Test(&requests[i], &is_over, &statuses[i]);
    }
    while (way == 3 && !is_over)
        MPI_Testall(COUNT, requests, &is_over, statuses);
    for (int i = 0; i < COUNT && way == 4; i++) {
        MPI_Status status;
        MPI_Waitany(COUNT, requests, &index, &status);
        statuses[index] = status;
    }
    for (int i = 0; i < COUNT && way == 5; i += over) {
        MPI_Status some[COUNT];
        MPI_Waitsome(COUNT, requests, &over, indices, some);
        for (int k = 0; k < over; k++)
            statuses[indices[k]] = some[k];
    }
}

static void receives(unsigned char **buffers, int round)
{
    MPI_Request requests[COUNT];
    MPI_Status statuses[COUNT];
    int is_any = round % 2;
    check_delay();
    for (int i = 0; i < COUNT; i++)
        MPI_Irecv(buffers[i], LENGTH, MPI_BYTE, is_any ? MPI_ANY_SOURCE : 1, is_any ? MPI_ANY_TAG : DATA,
                  MPI_COMM_WORLD, &requests[i]);
    complete(requests, statuses, round);
    for (int i = 0; i < COUNT; i++) {
        int count = -1, is_cancelled = 1;
        MPI_Get_count(&statuses[i], MPI_BYTE, &count);
        MPI_Test_cancelled(&statuses[i], &is_cancelled);
        check(statuses[i].MPI_SOURCE == 1 && statuses[i].MPI_TAG == DATA, "where it comes from");
        check(count == LENGTH - i && !is_cancelled, "its length");
        check(requests[i] == MPI_REQUEST_NULL, "the request is over");
        check(check_is_filled(buffers[i], (size_t)count, (unsigned)(round + i)), "its bytes");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffers[COUNT] = {check_buffer_new(LENGTH), check_buffer_new(LENGTH)};
    for (int round = -1; round < ROUNDS; round++) {
        for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
            check_fill(buffers[i], LENGTH, (unsigned)(round + i));
            check_send(buffers[i], LENGTH - (size_t)i, 0, DATA);
        }
        for (int i = 0; check_rank() == 0 && round < 0 && i < COUNT; i++)
            check_recv(buffers[i], LENGTH - (size_t)i, 1, DATA);
        if (check_rank() == 0 && round >= 0)
            receives(buffers, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
