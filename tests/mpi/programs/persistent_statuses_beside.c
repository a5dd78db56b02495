/* SPDX-License-Identifier: MIT */
/* Claim: the status of a persistent receive is told also beside a message under way, and after the program has made a
 * persistent collective, which is waited for in another way.
 * defers: receive
 * quick: mpich5 impi openmpi4 */
#include "check.h"

enum { ROUNDS = 4, LENGTH = 1000, TAG = 5, LARGE_TAG = 6 };

static void make_collective(void)
{
#if MPI_VERSION >= 4
    MPI_Request barrier;
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &barrier);
    MPI_Request_free(&barrier);
#endif
}

static void rank_receive(unsigned char *large, MPI_Request *small)
{
    MPI_Status status;
    int count = -1;
    MPI_Start(small);
    check_recv(large, CHECK_LARGE_BYTES, 1, LARGE_TAG);
    MPI_Waitall(1, small, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(status.MPI_SOURCE == 1 && status.MPI_TAG == TAG && count == LENGTH, "the status");
    check(check_is_filled(large, CHECK_LARGE_BYTES, 4), "the large message");
}

static void rank_send(unsigned char *large, unsigned char *small)
{
    check_delay(); /* the large receive has returned, and the small one is waited for */
    check_send(small, LENGTH, 0, TAG);
    check_delay();
    check_send(large, CHECK_LARGE_BYTES, 0, LARGE_TAG);
}

int main(int argc, char **argv)
{
    static unsigned char small[2 * LENGTH];
    check_start(&argc, &argv);
    unsigned char *large = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Request request;
    make_collective();
    MPI_Recv_init(small, sizeof small, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 1)
            check_fill(large, CHECK_LARGE_BYTES, 4);
        if (check_rank() == 0)
            rank_receive(large, &request);
        else
            rank_send(large, small);
    }
    MPI_Request_free(&request);
    return check_end();
}
