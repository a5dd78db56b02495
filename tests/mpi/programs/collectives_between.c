/* SPDX-License-Identifier: MIT */
/* Claim: collectives between blocking calls, and on buffers just received, give the right results.
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 100000 };
    double *field = malloc(sizeof(double) * COUNT), *sums = malloc(sizeof(double) * COUNT);
    int peer = 1 - check_rank();
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 0; i < COUNT; i++)
            field[i] = turn + check_rank();
        MPI_Sendrecv(field, COUNT, MPI_DOUBLE, peer, 0, sums, COUNT, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Allreduce(MPI_IN_PLACE, sums, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        check(sums[0] == 2 * turn + 1 && sums[COUNT - 1] == 2 * turn + 1, "MPI_Allreduce of what was just received");
        if (check_rank() == 0)
            MPI_Send(sums, COUNT, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(field, COUNT, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(check_rank() == 0 ? sums : field, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD);
        check(sums[COUNT / 2] == 2 * turn + 1, "MPI_Bcast of what was just received");
        MPI_Reduce(field, sums, COUNT, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    return check_end();
}
