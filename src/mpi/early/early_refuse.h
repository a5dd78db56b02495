/* SPDX-License-Identifier: MIT */
/* Calls that early receives would make wrong: the job ends before they can be. What each does is said in mpi/early.h.
 */
#ifndef MPI_EARLY_EARLY_REFUSE_H
#define MPI_EARLY_EARLY_REFUSE_H

#include "abi.h"

void early_refuse_matching(int source, int tag, MPI_Comm comm, const char *function);
void early_refuse_synchronous_send(MPI_Count count, MPI_Datatype datatype, int peer, MPI_Comm comm,
                                   const char *function);

#endif
