/* SPDX-License-Identifier: MIT */
/* A blocking collective carried out as nonblocking ones. Where its memory can be held the call returns early, and each
 * page is given back as soon as the pieces that it belongs to are over; where not, the call waits, and matches those
 * of other ranks all the same. */
#ifndef MPI_COLLECTIVE_OP_H
#define MPI_COLLECTIVE_OP_H

#include "abi.h"
#include "mpi/collective/collective_call.h"
#include "mpi/collective/collective_comm.h"

/* Waits for earlier ops that hold what it is about to use. */
void collective_op_wait_memory(const struct collective_call *call);

/* Carries the call out. Waits inside it where it must. */
int collective_op_run(struct collective_call *call, struct collective_comm *comm);

#endif
