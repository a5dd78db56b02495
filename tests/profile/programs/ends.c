/* SPDX-License-Identifier: MIT */
/* Claim: what was called is on record however the process ends.
 * ranks: 2
 * arguments: kill exit abort
 * expect: MPI_Allreduce 14 112
 * exit: any
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    double value = 1;
    double sum;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 7; i++)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    usleep(200000); /* both ranks are here: the first to end takes the other one along */
    if (strcmp(argv[1], "kill") == 0)
        raise(SIGKILL);
    if (strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    exit(5);
}
