/* SPDX-License-Identifier: MIT */
/* Claim: the agreement in MPI_Init ends where a tool makes every blocking send wait for its receive.
 * library: yes
 * ranks: 3
 * timeout: 60
 * quick: openmpi4 mpich4 userfaultfd */
#include "check.h"

#if defined(LIBRARY)
int MPI_Send(const void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm)
{
    return PMPI_Ssend(buffer, count, datatype, peer, tag, comm);
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
#endif
