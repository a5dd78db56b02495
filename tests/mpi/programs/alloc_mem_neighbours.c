/* SPDX-License-Identifier: MIT */
/* Claim: memory of MPI_Alloc_mem is received into, and sent from, where MPI's own allocator has put data of MPI's on
 * the same page: Intel MPI keeps messages there that have come before their receive. */
#include "check.h"

enum { BLOCKS = 24, FIRST_BYTES = 9000, STEP_BYTES = 3001, READY_TAG = BLOCKS };

static size_t length_of(int block)
{
    return FIRST_BYTES + (size_t)block * STEP_BYTES;
}

/* The message comes while this rank waits for another one, and so into a block of MPI's that is newer than ours. */
static void receive_unexpected(unsigned char *block, int number)
{
    char is_ready;
    check_recv(&is_ready, 1, 0, READY_TAG);
    check_recv(block, length_of(number), 0, number);
    check(check_is_filled(block, length_of(number), number), "what has come before its receive");
}

static void send_unexpected(unsigned char *block, int number)
{
    MPI_Request request;
    check_fill(block, length_of(number), number);
    MPI_Isend(block, (int)length_of(number), MPI_BYTE, 1, number, MPI_COMM_WORLD, &request);
    check_send("", 1, 1, READY_TAG);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void play(unsigned char *block, int number)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        send_unexpected(block, number);
    else
        receive_unexpected(block, number);
    check_echo(block, length_of(number), number);
}

int main(int argc, char **argv)
{
    unsigned char *blocks[BLOCKS];
    check_start(&argc, &argv);
    for (int i = 0; i < BLOCKS; i++) {
        MPI_Alloc_mem((MPI_Aint)length_of(i), MPI_INFO_NULL, &blocks[i]);
        play(blocks[i], i);
    }
    for (int i = 0; i < BLOCKS; i++)
        MPI_Free_mem(blocks[i]);
    return check_end();
}
