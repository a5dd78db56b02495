/* SPDX-License-Identifier: MIT */
/* A call as MPI itself carries it out. */
#ifndef MPI_COLLECTIVE_BLOCKING_H
#define MPI_COLLECTIVE_BLOCKING_H

#include "mpi/collective/collective_call.h"

/* MPI's own blocking function, with what the program gave. MPI's error code. */
int collective_blocking(const struct collective_call *call);

#endif
