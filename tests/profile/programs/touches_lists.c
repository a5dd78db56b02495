/* SPDX-License-Identifier: MIT */
/* Claim: the line that first touches what a collective with counts rank by rank has moved is found, and so is that of
 * one which scatters what it reduces.
 * ranks: 2
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 15, RANKS = 2 };

static int *out;
static int *in;
static volatile int sink;
static int counts[RANKS] = {COUNT, COUNT};
static int places[RANKS] = {COUNT, 0}; /* the last rank's block first */
static int offsets[RANKS] = {COUNT * sizeof(int), 0};
static MPI_Datatype types[RANKS];

static void exchange(void)
{
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD); /* CALL alltoallv */
    sink = out[5];
    sink = in[COUNT + 5]; /* TOUCH alltoallv */
}

static void exchange_typed(void)
{
    MPI_Alltoallw(out, counts, offsets, types, in, counts, offsets, types, MPI_COMM_WORLD); /* CALL alltoallw */
    out[COUNT / 2] = 5;                                                                     /* TOUCH alltoallw */
}

static void gather(int rank)
{
    MPI_Allgatherv(out, COUNT, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD); /* CALL allgatherv */
    in[COUNT / 2] = 7;                                                                /* TOUCH allgatherv */
    MPI_Gatherv(out, COUNT, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD); /* CALL gatherv */
    (rank == 0 ? in : out)[COUNT - 1] = 9;                                            /* TOUCH gatherv */
}

static void reduce(void)
{
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);      /* CALL reduce_scatter */
    sink = in[COUNT / 2];                                                       /* TOUCH reduce_scatter */
    MPI_Reduce_scatter_block(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* CALL block */
    out[COUNT + COUNT / 2] = 1;                                                 /* TOUCH block */
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = malloc(RANKS * COUNT * sizeof *out);
    in = malloc(RANKS * COUNT * sizeof *in);
    memset(out, 1, RANKS * COUNT * sizeof *out);
    memset(in, 1, RANKS * COUNT * sizeof *in);
    for (int i = 0; i < RANKS; i++)
        types[i] = MPI_INT;
    for (int i = 0; i < 3; i++) {
        exchange();
        exchange_typed();
        gather(rank);
        reduce();
    }
    MPI_Finalize();
    return 0;
}
