/* SPDX-License-Identifier: MIT */
/* How an op ends that is one request of MPI's. Inside the gate. */
#ifndef MPI_ENDING_H
#define MPI_ENDING_H

#include <stdbool.h>

#include "abi.h"
#include "mpi/native.h"

/* For the engine: is it over? An error, which MPI raises as the program's own wait would have, is kept for the next
 * call, and the status that the program was promised becomes exact, as do the bytes of a receive, which were the room
 * for it. */
bool ending_settle(struct transfer *transfer);

/* It has just been started, with this result: is it over already? An eager send is, or a message that had arrived
 * before; or it could not be started. */
bool ending_is_at_once(struct native *native, MPI_Status *status, int *result);

#endif
