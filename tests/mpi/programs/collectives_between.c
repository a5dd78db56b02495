/* SPDX-License-Identifier: MIT */
/* Claim: collectives between blocking calls, from and into memory with pending ops and on buffers just received, give
 * the right results: reductions and broadcasts, gathers and all-to-alls.
 * defers: any */
#include "check.h"

static void reduce_between(void)
{
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
}

static void gather_between(void)
{
    enum { COUNT = 50000 };
    int rank = check_rank(), peer = 1 - rank;
    int *in = malloc(sizeof(int) * 2 * COUNT), *out = malloc(sizeof(int) * 2 * COUNT);
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 2 * COUNT; i++)
            out[i] = 10 * turn + rank;
        MPI_Sendrecv(out, 2 * COUNT, MPI_INT, peer, 0, in, 2 * COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Alltoall(in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD); /* reads in, writes out */
        check(out[0] == 10 * turn + 1 && out[2 * COUNT - 1] == 10 * turn, "MPI_Alltoall");
        MPI_Sendrecv(out, COUNT, MPI_INT, peer, 0, in, COUNT, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD);
        check(out[0] == 10 * turn + 1 && out[COUNT] == 10 * turn, "MPI_Allgather in place");
        check(in[0] == 10 * turn + 1, "the message before it");
        MPI_Gather(in, COUNT, MPI_INT, rank == 0 ? out : NULL, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
        check(rank != 0 || (out[0] == 10 * turn + 1 && out[2 * COUNT - 1] == 10 * turn + 1), "MPI_Gather");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    reduce_between();
    gather_between();
    return check_end();
}
