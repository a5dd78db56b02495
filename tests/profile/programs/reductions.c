/* SPDX-License-Identifier: MIT */
/* Claim: a profile tells reductions that any order leaves alike, which Lapwing may begin early, from others. Prints for
 * each function how many of its calls are others, on both ranks together.
 * ranks: 2 */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 1000 };

static double reals[COUNT], real_results[COUNT];
static int whole[2 * COUNT], whole_results[2 * COUNT];

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int rank;
    int counts[2] = {COUNT, COUNT};
    MPI_Op own;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &own);
    MPI_Allreduce(reals, real_results, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* a + b is b + a */
    MPI_Allreduce(whole, whole_results, COUNT, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    MPI_Reduce(reals, real_results, COUNT, MPI_DOUBLE, MPI_PROD, 0, MPI_COMM_WORLD);
    MPI_Reduce(reals, real_results, COUNT, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Scan(whole, whole_results, COUNT, MPI_INT, own, MPI_COMM_WORLD);
    MPI_Reduce_scatter(whole, whole_results, counts, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    MPI_Op_free(&own);
    if (rank == 0)
        printf("MPI_Allreduce 0\nMPI_Reduce 2\nMPI_Scan 2\nMPI_Reduce_scatter 0\n");
    MPI_Finalize();
    return 0;
}
