/* SPDX-License-Identifier: MIT */
/* MPI_Irecv of a message that was received early (mpi/early.h). */
#ifndef MPI_EARLY_EARLY_REQUEST_H
#define MPI_EARLY_EARLY_REQUEST_H

#include <stdbool.h>

#include "abi.h"
#include "mpi/message/message.h"

bool early_request_start(const struct message *receive, MPI_Request *request, int *result);

#endif
