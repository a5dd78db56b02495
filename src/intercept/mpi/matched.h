/* SPDX-License-Identifier: MIT */
/* A receive with a wildcard whose status the program wants: match, then receive. */
#ifndef INTERCEPT_MPI_MATCHED_H
#define INTERCEPT_MPI_MATCHED_H

#include "message.h"

int matched_receive(struct message *message, MPI_Status *status);

#endif
