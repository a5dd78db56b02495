/* SPDX-License-Identifier: MIT */
/* Claim: absolute addresses with MPI_BOTTOM, one block or several apart, carry their
 * bytes, also just after a receive into one of the blocks. */
#include "check.h"

enum { BLOCKS = 3, LENGTH = 200000 };

static MPI_Datatype absolute(unsigned char **blocks, int count)
{
    int lengths[BLOCKS];
    MPI_Aint addresses[BLOCKS];
    MPI_Datatype type;
    for (int i = 0; i < count; i++) {
        lengths[i] = LENGTH;
        MPI_Get_address(blocks[i], &addresses[i]);
    }
    MPI_Type_create_hindexed(count, lengths, addresses, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *blocks[BLOCKS];
    int peer = 1 - check_rank();
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = check_buffer_new(LENGTH);
    for (int round = 0; round < 5; round++) {
        int count = round % 2 ? 1 : BLOCKS;
        MPI_Datatype type = absolute(blocks, count);
        for (int i = 0; i < BLOCKS; i++)
            check_fill(blocks[i], LENGTH, 10 * round + i);
        if (check_rank() == 0) {
            MPI_Send(MPI_BOTTOM, 1, type, peer, 0, MPI_COMM_WORLD);
            memset(blocks[0], 1, LENGTH);
            check_recv(blocks[0], LENGTH, peer, 1);
            MPI_Send(MPI_BOTTOM, 1, type, peer, 2, MPI_COMM_WORLD);
        } else {
            MPI_Recv(MPI_BOTTOM, 1, type, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < count; i++)
                check(check_is_filled(blocks[i], LENGTH, 10 * round + i), "each block");
            check_fill(blocks[0], LENGTH, 77);
            check_send(blocks[0], LENGTH, peer, 1);
            MPI_Recv(MPI_BOTTOM, 1, type, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(check_is_filled(blocks[0], LENGTH, 77), "what was received before was sent");
        }
        MPI_Type_free(&type);
    }
    return check_end();
}
