/* SPDX-License-Identifier: MIT */
/* Claim: a program that defines MPI_Finalize itself, and goes on to PMPI_Finalize, is not said to end without.
 * records: complete
 * quick: openmpi4 mpich4 userfaultfd */
#include "check.h"

int MPI_Finalize(void)
{
    return PMPI_Finalize();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
