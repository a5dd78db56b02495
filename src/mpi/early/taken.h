/* SPDX-License-Identifier: MIT */
/* What the taking of messages (taking.c) and the store of those taken (unexpected.c) know of each
 * other. All inside the gate. */
#ifndef MPI_EARLY_TAKEN_H
#define MPI_EARLY_TAKEN_H

#include <stdbool.h>

#include "abi.h"
#include "mpi/early/channels.h"

struct outcome;
struct unexpected;

/* Matches the channel's first message, which a probe has found to have this tag and length, and begins to
 * receive it. False: no room (option buffer, or 64 messages are here), or MPI does not find it. */
bool taken_add(const struct channel *channel, int tag, int length_bytes);

/* Lets what was taken arrive. */
void taken_look(void);

/* The message has been given to an MPI_Irecv: when it has come, now or later, it is completed. */
void taken_claim(struct unexpected *unexpected, struct outcome *claim);
void outcome_complete(struct outcome *claim, struct unexpected *unexpected);

/* The engine is gone, and with it what it assisted: calls go straight to MPI again. */
void taking_finish(void);

#endif
