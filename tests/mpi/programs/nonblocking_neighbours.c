/* SPDX-License-Identifier: MIT */
/* Claim: requests of the program and blocking calls on memory of the same pages do not disturb each other. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { PART = 50001, COUNT = 8 };
    unsigned char *room = check_buffer_new(PART * COUNT);
    int peer = 1 - check_rank();
    for (int turn = 0; turn < 10; turn++) {
        MPI_Request requests[COUNT];
        int pending = 0;
        for (int i = check_rank(); i < COUNT; i += 2)
            check_fill(room + i * PART, PART, turn * COUNT + i);
        for (int i = 0; i < COUNT; i += 4) { /* parts 0, 1 nonblocking; 2, 3 blocking; and so on */
            MPI_Irecv(room + (i + peer) * PART, PART, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[pending++]);
            MPI_Isend(room + (i + check_rank()) * PART, PART, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[pending++]);
            MPI_Sendrecv(room + (i + 2 + check_rank()) * PART, PART, MPI_BYTE, peer, i, room + (i + 2 + peer) * PART,
                         PART, MPI_BYTE, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < pending; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            check(check_is_filled(room + i * PART, PART, turn * COUNT + i), "part i");
    }
    return check_end();
}
