/* SPDX-License-Identifier: MIT */
/* Claim: what was received into a window can be got by the peer at once, and one-sided calls see and change memory with
 * pending ops in the right order. */
#include "check.h"

static void get_received(void)
{
    unsigned char *exposed = check_buffer_new(CHECK_LARGE_BYTES);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    unsigned char got[64];
    MPI_Win window;
    MPI_Win_create(exposed, CHECK_LARGE_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        check_recv(exposed, CHECK_LARGE_BYTES, 1, 0);
        check_send(got, 1, 1, 1);
        check_recv(got, 1, 1, 2);
    } else {
        MPI_Request request;
        check_fill(buffer, CHECK_LARGE_BYTES, 3);
        MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
        check_recv(got, 1, 0, 1);
        MPI_Get(got, sizeof got, MPI_BYTE, 0, 4096, sizeof got, MPI_BYTE, window);
        MPI_Win_flush(0, window);
        check(memcmp(got, buffer + 4096, sizeof got) == 0, "the window holds what was received");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_send(got, 1, 0, 2);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void put_received(void)
{
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
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    get_received();
    put_received();
    return check_end();
}
