/* SPDX-License-Identifier: MIT */
/* Claim: gathers and all-to-alls from and into memory with pending ops give the right results. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
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
    return check_end();
}
