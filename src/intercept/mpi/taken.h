/* SPDX-License-Identifier: MIT */
/* What the taking of messages (taking.c) and the store of those taken (unexpected.c) know of each
 * other. All inside the gate. */
#ifndef INTERCEPT_MPI_TAKEN_H
#define INTERCEPT_MPI_TAKEN_H

#include <stdbool.h>

#include "abi.h"
#include "channels.h"

/* Matches the channel's first message, which a probe has found to have this tag and length, and begins to
 * receive it. False: no room (option buffer). */
bool taken_add(const struct channel *channel, int tag, int length_bytes);

/* Lets what was taken arrive. */
void taken_look(void);

/* The engine is gone: calls go straight to MPI again. */
void taking_finish(void);

#endif
