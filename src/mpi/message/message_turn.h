/* SPDX-License-Identifier: MIT */
/* Messages that start in their turn: in the order of the calls that have returned early, each once the receives before
 * it are matched. So other processes see what they would see if each of these receives had waited for its message to
 * be sent: nothing that this process does after a receive is visible before. All inside the gate. */
#ifndef MPI_MESSAGE_MESSAGE_TURN_H
#define MPI_MESSAGE_MESSAGE_TURN_H

#include <stdbool.h>

#include "mpi/message/message.h"

/* The op, whose memory is held, starts when its turn comes: native->awaits_turn until then. */
void message_turn_await(struct transfer *transfer, const struct message *message, void *buffer,
                        message_start_fn *start);

/* Starts all whose turn has come, and lets the data come of what has been matched. */
void message_turn_advance(void);

#endif
