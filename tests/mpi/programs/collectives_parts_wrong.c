/* SPDX-License-Identifier: MIT */
/* Claim: a rank that gives MPI_Allgatherv more than the others were told is told so, in pieces as by MPI's own, and the
 * others go on.
 * quick: openmpi4
 * environment: LAPWING_LEARN=off */
#include "check.h"

enum { COUNT = 200000, MORE = 11 };

int main(int argc, char **argv)
{
#ifndef OPEN_MPI
    return check_skip("skip: stock MPICH hangs");
#endif
    check_start(&argc, &argv);
    MPI_Comm comm;
    int rank = check_rank();
    double *sent = (double *)check_buffer_new((COUNT + MORE) * sizeof(double));
    double *received = (double *)check_buffer_new(2 * COUNT * sizeof(double));
    int counts[2] = {COUNT, COUNT}, displacements[2] = {0, COUNT};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int result = MPI_Allgatherv(sent, rank == 0 ? COUNT + MORE : COUNT, MPI_DOUBLE, received, counts, displacements,
                                MPI_DOUBLE, comm);
    received[2 * COUNT - 1] = 0; /* it is over */
    check(rank != 0 || check_class_or_late(result, comm) == MPI_ERR_TRUNCATE, "too much");
    return check_end();
}
