/* SPDX-License-Identifier: MIT */
/* Claim: the record says whether receives would be matched first: in a pair only where several threads may receive.
 * ranks: 2
 * arguments: funneled multiple
 */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int provided;
    int wanted = strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return provided == wanted ? 0 : 1;
}
