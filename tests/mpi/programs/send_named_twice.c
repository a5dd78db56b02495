/* SPDX-License-Identifier: MIT */
/* Claim: a send may name one block twice, and leave out another into which a receive is under way.
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "check.h"

enum { BLOCK_BYTES = 1 << 20, BLOCKS = 3, ROUNDS = 10, SENT = 1, ANSWER = 2 };

static void send_and_receive(unsigned char *blocks, MPI_Datatype twice, int round)
{
    MPI_Request answer;
    check_fill(blocks, BLOCK_BYTES, round);
    check_fill(blocks + 2 * BLOCK_BYTES, BLOCK_BYTES, round + 1);
    MPI_Irecv(blocks + BLOCK_BYTES, BLOCK_BYTES, MPI_BYTE, 1, ANSWER, MPI_COMM_WORLD, &answer);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(blocks, 1, twice, 1, SENT, MPI_COMM_WORLD);
    MPI_Wait(&answer, MPI_STATUS_IGNORE);
    check(check_is_filled(blocks + BLOCK_BYTES, BLOCK_BYTES, round + 2), "what came into the block left out");
}

static void receive_and_answer(unsigned char *blocks, int round)
{
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(blocks, BLOCKS * BLOCK_BYTES, 0, SENT);
    check_delay();
    check(check_is_filled(blocks, BLOCK_BYTES, round), "the block");
    check(check_is_filled(blocks + BLOCK_BYTES, BLOCK_BYTES, round), "the block again");
    check(check_is_filled(blocks + 2 * BLOCK_BYTES, BLOCK_BYTES, round + 1), "the last block");
    check_fill(blocks, BLOCK_BYTES, round + 2);
    check_send(blocks, BLOCK_BYTES, 0, ANSWER);
}

int main(int argc, char **argv)
{
    MPI_Datatype twice;
    int lengths[BLOCKS] = {BLOCK_BYTES, BLOCK_BYTES, BLOCK_BYTES};
    MPI_Aint places[BLOCKS] = {0, 0, 2 * BLOCK_BYTES};
    check_start(&argc, &argv);
    unsigned char *blocks = check_buffer_new(BLOCKS * BLOCK_BYTES);
    MPI_Type_create_hindexed(BLOCKS, lengths, places, MPI_BYTE, &twice);
    MPI_Type_commit(&twice);
    for (int round = 0; round < ROUNDS; round++)
        if (check_rank() == 0)
            send_and_receive(blocks, twice, round);
        else
            receive_and_answer(blocks, round);
    MPI_Type_free(&twice);
    return check_end();
}
