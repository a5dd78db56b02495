/* SPDX-License-Identifier: MIT */
/* A wait of the program's that may leave some of its requests to an op: what is the same of sends (sent.h) and of
 * receives (ahead.h). */
#ifndef MPI_REQUEST_LEAVING_H
#define MPI_REQUEST_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/request/sent_op.h"

/* May ops begin that hold memory, and that this thread need not share MPI for? */
bool leaving_is_possible(void);

/* May MPI be asked of each request whether it is over, and does it become so? Not where nobody knows where a request's
 * bytes lie: MPICH's nonblocking operations on files, which are among these, only go on in calls that complete them,
 * and leaving_others_are_over() makes none. Nor where a status would be lost. */
bool leaving_may_look(const struct sent_op_wait *wait);

/* Is the request of this index not waited for here? Asked in their order; again of one that was still under way. */
typedef bool leaving_stays_fn(void *argument, int index);

/* Are all others over? next: 0 before the first poll; those before it need no other one. Inside the gate. */
bool leaving_others_are_over(const struct sent_op_wait *wait, int *next, leaving_stays_fn *stays, void *argument);

/* What is over so soon after all else is not worth an op: has it had that time? until_ns: 0 before the first poll. */
bool leaving_grace_is_over(int64_t *until_ns);

#endif
