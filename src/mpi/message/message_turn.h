/* SPDX-License-Identifier: MIT */
/* Messages that start after their call has returned. All inside the gate.
 *
 * In their turn: in the order of the calls that have returned early, each once the receives before it are matched. So
 * other processes see what they would see if each of these receives had waited for its message to be sent: nothing
 * that this process does after a receive is visible before.
 *
 * Apart: a receive whose start would bring the data itself, as over shared memory, where MPI copies them as soon as it
 * is asked for them. It is matched in the call or in its turn, and its data are asked for by whoever tests the op; but
 * before the program goes to MPI with anything else, where it might wait for the sender (dispatch.h). */
#ifndef MPI_MESSAGE_MESSAGE_TURN_H
#define MPI_MESSAGE_MESSAGE_TURN_H

#include <stdbool.h>

#include "mpi/message/message.h"

/* The op, whose memory is held, starts when its turn comes: NATIVE_IN_LINE until then. */
void message_turn_await(struct transfer *transfer, const struct message *message, void *buffer,
                        message_start_fn *start);

/* The same for one that starts apart and is matched already: NATIVE_MATCHED until it is asked for. The message's handle
 * is taken from it. */
void message_turn_await_data(struct transfer *transfer, const struct message *message, void *buffer);

/* Starts all whose turn has come, and lets the data come of what has been matched, but for what starts apart. */
void message_turn_advance(void);

/* Carries on an op that has not started: its turn may have come, and its data may be asked for. */
void message_turn_carry_on(struct transfer *transfer);

/* Asks for the data of all that start apart and are matched. */
void message_turn_ask_all(void);

#endif
