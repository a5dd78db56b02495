/* SPDX-License-Identifier: MIT */
/* Blocking receives and probes of messages that were received early. What each does is said in mpi/early.h. */
#ifndef MPI_EARLY_EARLY_RECEIVE_H
#define MPI_EARLY_EARLY_RECEIVE_H

#include <stdbool.h>

#include "abi.h"
#include "mpi/message/message.h"

bool early_receive_awaits(const struct message *receive);
bool early_receive_try(struct message *receive, MPI_Status *status, int *result);
bool early_receive_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);

#endif
