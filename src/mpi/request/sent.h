/* SPDX-License-Identifier: MIT */
/* Sends of the program's own that are under way when it waits for them (MPI_Isend, MPI_Irsend, or their persistent
 * twins; then MPI_Wait, MPI_Waitall). With MPI alone a late receiver stops the sender there. Where that is worth it,
 * they become one op: their buffers are held as that of a blocking send, the requests are the op's from then on, and
 * the program's handles are null, as after its wait. It keeps those of persistent ones (persistent.h).
 *
 * Only what the wait would end on is left to do: all other requests of the call are over before. So nothing but the
 * sends can be early, and MPI itself gives the call its result and its statuses. Of a send's status nothing is defined
 * but its error (MPI 4.1, 3.7.3) and that it was not cancelled.
 * MPI_Waitany and MPI_Waitsome likewise, where one send is all that they could wait for. */
#ifndef MPI_REQUEST_SENT_H
#define MPI_REQUEST_SENT_H

#include "mpi/request/sent_op.h"

/* Before a call that waits for all goes to MPI, outside the gate. What is left to wait for the op has. */
void sent_defer(struct sent_op_wait *wait);

/* Instead of a call that waits for one of them, or some. False: it must go to MPI after all. Else its result. */
bool sent_defer_some(struct sent_op_wait *wait, int *result);

/* After either. */
void sent_learn(const struct sent_op_wait *wait);

#endif
