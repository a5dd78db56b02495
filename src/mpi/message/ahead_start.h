/* SPDX-License-Identifier: MIT */
/* MPI_Irecv with a buffer that is held from then on (request/ahead.h), so that its wait may return early. */
#ifndef MPI_MESSAGE_AHEAD_START_H
#define MPI_MESSAGE_AHEAD_START_H

#include <stdbool.h>

#include "mpi/message/message.h"

/* In MPI_Init: switches all this off where somebody may write into a receive's buffer while no call of MPI is made. */
void ahead_start_settle(void);

/* False: the receive is to go to MPI as it is. Else it has begun, and *result is the call's. Outside the gate. */
bool ahead_start(struct message *message, MPI_Request *request, const void *return_address, int *result);

/* It has gone to MPI as it is, and is tracked: what its wait takes is learnt. */
void ahead_start_note_pass(const struct message *message, MPI_Request request);

#endif
