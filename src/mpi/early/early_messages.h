/* SPDX-License-Identifier: MIT */
/* Receiving messages before the program asks for them (option early_receive; Mao, Song,
 * Wu, Yang, 2006, 3.1: "the worker thread receives it without hesitation"). A large message
 * on a channel (early_channels.h) that has come before its receive is matched and received into
 * memory of ours, so that its sender is free; the program's receive then finds it here.
 *
 * Order is MPI's own (MPI 4.1, 3.5): only the first message that a source has sent on a
 * communicator is taken, so that all that were taken are older than all that MPI still has
 * of that source, and a receive looks here first. Every call of the program that could match
 * a message must do that, or refuse (MPI_Mprobe and persistent receives hand out handles that only
 * MPI can make). What a receive of the program's has been posted for is MPI's, as ever.
 *
 * A synchronous send whose message is taken would return before its receive has begun. MPI
 * does not tell the receiver how a message was sent, so the sender refuses: with this option
 * MPI_Ssend, MPI_Issend and MPI_Ssend_init of large messages end the job (early_refuse.h).
 *
 * Below MPI_THREAD_MULTIPLE. All state: inside the gate. */
#ifndef MPI_EARLY_EARLY_MESSAGES_H
#define MPI_EARLY_EARLY_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/options.h"
#include "mpi/early/early_channels.h"
#include "mpi/message/message.h"

/* Shorter messages do not keep their senders, and may be what MPI itself sends on the program's communicators when it
 * makes others (MPI_Comm_create_group; MPI_Intercomm_create refuses, since it sends the names of all processes). */
static inline uint64_t early_messages_least_bytes(void)
{
    enum { LEAST_BYTES = 4096 };
    return options.threshold_bytes > LEAST_BYTES ? options.threshold_bytes : LEAST_BYTES;
}

/* A message that was taken, until the program has received it. */
struct early_message;

/* Matches the channel's first message, which a probe has found to have this tag and length, and begins to
 * receive it. False: no room (option buffer, or 64 messages are here), or MPI does not find it. */
bool early_message_add(const struct early_channel *channel, int tag, int length_bytes);

/* Lets what was taken arrive. */
void early_messages_advance(void);

/* The oldest message here that such a receive or probe matches, or NULL. */
struct early_message *early_message_find(int source, int tag, MPI_Comm comm);

/* What a probe says of it. */
const MPI_Status *early_message_status(const struct early_message *message);

/* One look whether its data are all here. */
bool early_message_has_come(struct early_message *message);

/* Gives its data to a receive's buffer and forgets it. Once it has come, with the buffer free.
 * Returns the receive's error, which the caller raises. */
int early_message_give(struct early_message *message, const struct message *receive);

/* The message is this claim's: when it has come, now or later, the claim is told. */
struct early_message_claim {
    void (*complete)(struct early_message_claim *claim, struct early_message *message);
};
void early_message_give_to(struct early_message *message, struct early_message_claim *claim);

/* Nobody can ask for what belongs to the communicator any more. */
void early_messages_forget_comm(MPI_Comm comm);

/* Lets all arrive that the program has not received yet: its sender does not wait for us. True when nothing is left. */
bool early_messages_settle(void);
void early_messages_drop(void);

#endif
