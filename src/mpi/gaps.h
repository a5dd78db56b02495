/* SPDX-License-Identifier: MIT */
/* How a datatype was made (MPI 4.1, 5.1.13). */
#ifndef MPI_GAPS_H
#define MPI_GAPS_H

#include <stdbool.h>

#include "abi.h"

/* Is it built like an array: of elements a fixed stride apart, or at displacements
 * counted in elements? Asks MPI, some microseconds; inside the gate when anything
 * is pending. */
bool gaps_are_of_an_array(MPI_Datatype datatype);

/* Do its bytes lie one after the other in memory, in the order in which MPI counts them? A type may be as large as its
 * extent and name them in another one (a transposed matrix). As costly, and inside the gate. */
bool gaps_are_none(MPI_Datatype datatype);

#endif
