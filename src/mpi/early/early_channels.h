/* SPDX-License-Identifier: MIT */
/* On which channels - a communicator and a source on it - the program has received large
 * messages by blocking calls: what arrives there may be taken before it is asked for
 * (early_messages.h). A communicator is closed once the program receives on it
 * in a way that a message already taken could not be given to.
 *
 * Written by the program's thread that is inside MPI, inside the gate; read by the engine
 * inside the gate, and by the program's own threads, one at a time, anywhere. */
#ifndef MPI_EARLY_EARLY_CHANNELS_H
#define MPI_EARLY_EARLY_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

enum { EARLY_CHANNELS_MAX = 64 };

struct early_channel {
    MPI_Comm comm;
    int source;
};

uint32_t early_channels_count(void);
const struct early_channel *early_channels_at(uint32_t index);

bool early_channels_know(const struct early_channel *channel);

/* Beyond EARLY_CHANNELS_MAX in the place of another; nothing happens on a closed communicator. Inside the gate. */
void early_channels_add(const struct early_channel *channel);

/* Knows none of the communicator's any more. Inside the gate. */
void early_channels_leave(MPI_Comm comm);

/* The same, and learns none again. Inside the gate. */
void early_channels_close(MPI_Comm comm);

bool early_channels_are_closed(MPI_Comm comm);

/* As if the communicator were new: it is gone, and its handle may come back for another. Inside the gate. */
void early_channels_forget(MPI_Comm comm);

#endif
