/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Pack, MPI_Unpack and MPI_Reduce_local read what was just received.
 * defers: receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 100000 };
    int *in = malloc(sizeof(int) * COUNT), *other = calloc(COUNT, sizeof(int)), position = 0;
    char *packed = malloc(sizeof(int) * COUNT + 1000);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; check_rank() == 1 && i < COUNT; i++)
            in[i] = i + turn;
        if (check_rank() == 1) {
            check_delay();
            MPI_Send(in, COUNT, MPI_INT, 0, turn, MPI_COMM_WORLD);
            continue;
        }
        memset(other, 0, sizeof(int) * COUNT);
        MPI_Recv(in, COUNT, MPI_INT, 1, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (turn == 0) {
            MPI_Pack(in, COUNT, MPI_INT, packed, (int)sizeof(int) * COUNT + 1000, &position, MPI_COMM_WORLD);
            position = 0;
            MPI_Unpack(packed, (int)sizeof(int) * COUNT + 1000, &position, other, COUNT, MPI_INT, MPI_COMM_WORLD);
        } else {
            MPI_Reduce_local(in, other, COUNT, MPI_INT, MPI_SUM);
        }
        check(other[0] == turn && other[COUNT - 1] == COUNT - 1 + turn, "what MPI read was the message");
    }
    return check_end();
}
