/* SPDX-License-Identifier: MIT */
/* Claim: one-sided calls see and change memory with pending ops in the right order. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 100000 };
    int *window_memory, *buffer = malloc(sizeof(int) * COUNT), peer = 1 - check_rank();
    MPI_Win window;
    MPI_Win_allocate(sizeof(int) * COUNT, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < COUNT; i++)
            window_memory[i] = 10 * turn + check_rank();
        MPI_Sendrecv(window_memory, COUNT, MPI_INT, peer, 0, buffer, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Win_fence(0, window);
        MPI_Put(buffer, COUNT, MPI_INT, peer, 0, COUNT, MPI_INT, window); /* gives the peer its own data back */
        MPI_Win_fence(0, window);
        check(window_memory[COUNT - 1] == 10 * turn + check_rank(), "MPI_Put of what was just received");
        check(buffer[0] == 10 * turn + peer, "the message");
    }
    MPI_Win_free(&window);
    return check_end();
}
