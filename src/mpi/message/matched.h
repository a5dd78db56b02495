/* SPDX-License-Identifier: MIT */
/* Receiving a message that has been matched (MPI 4.1, 3.8.2): MPI_Mrecv, and a
 * receive whose status must be known at once. */
#ifndef MPI_MESSAGE_MATCHED_H
#define MPI_MESSAGE_MATCHED_H

#include "mpi/message/message.h"

/* Matches first, so that source, tag and count are exact; then the data may flow
 * in the background. */
int matched_receive(struct message *message, MPI_Status *status);

#endif
