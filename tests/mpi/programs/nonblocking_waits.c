/* SPDX-License-Identifier: MIT */
/* Claim: Waitall, Waitany, Waitsome, Test and their statuses work around pending ops. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 6, LENGTH = 200000 };
    unsigned char *held = check_buffer_new(CHECK_LARGE_BYTES), *rooms[COUNT];
    MPI_Request requests[COUNT];
    MPI_Status statuses[COUNT], status;
    int peer = 1 - check_rank(), index, is_done = 0, count;
    for (int i = 0; i < COUNT; i++)
        rooms[i] = check_buffer_new(LENGTH);
    for (int i = 0; check_rank() == 0 && i < COUNT; i++)
        MPI_Irecv(rooms[i], LENGTH, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]);
    check_fill(held, CHECK_LARGE_BYTES, check_rank());
    check_send(held, check_rank() == 0 ? CHECK_LARGE_BYTES : 1000, peer, 99);
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        check_fill(rooms[i], LENGTH, i);
        check_send(rooms[i], LENGTH - i, 0, i);
    }
    check_recv(held, CHECK_LARGE_BYTES, peer, 99);
    if (check_rank() == 0) {
        MPI_Waitany(2, requests, &index, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        check(index == status.MPI_TAG && count == LENGTH - index, "MPI_Waitany's status");
        MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
        while (!is_done)
            MPI_Test(&requests[2], &is_done, &status);
        check(status.MPI_TAG == 2, "MPI_Test's status");
        MPI_Waitall(3, requests + 3, statuses + 3);
        check(statuses[5].MPI_TAG == 5, "MPI_Waitall's statuses");
        MPI_Waitsome(COUNT, requests, &count, (int[COUNT]){0}, statuses);
        check(count == MPI_UNDEFINED, "no request is active any more");
    }
    check(check_is_filled(held, check_rank() == 0 ? 1000 : CHECK_LARGE_BYTES, peer), "the blocking message");
    for (int i = 0; i < COUNT; i++)
        check(check_is_filled(rooms[i], LENGTH - i, i), "message i");
    return check_end();
}
