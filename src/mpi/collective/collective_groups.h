/* SPDX-License-Identifier: MIT */
/* Collectives between two groups. Each rank has data for those of the other group, and gets theirs; of a root's own
 * group the others have none, and say nothing of it (MPI_PROC_NULL). Calls go in one piece, as the program gave them.
 */
#ifndef MPI_COLLECTIVE_GROUPS_H
#define MPI_COLLECTIVE_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/collective/collective_call.h"
#include "mpi/collective/collective_comm.h"

/* May calls of this function be begun as nonblocking ones? The same on all ranks of both groups. */
bool collective_groups_carry(enum collective_work_function function);

/* Is there a rank that does not know how much is moved? Then calls are counted (collective_sizes.h). */
bool collective_groups_differ(enum collective_work_function function);

/* Else, so much, in the way that has more: the same on all ranks of both groups. 0: none, or MPI says what is wrong. */
uint64_t collective_groups_bytes(const struct collective_call *call, const struct collective_comm *known);

/* What this rank sends and receives. */
void collective_groups_tell_sides(struct collective_call *call, const struct collective_comm *known);

/* Of a broadcast, once these are measured. Open MPI's MPI_Ibcast of no element is over at once, and does not count as
 * one: later ones of its ranks would not match. So one that moves nothing moves a byte, and those that take no part
 * name one. */
void collective_groups_fill(struct collective_call *call);

#endif
