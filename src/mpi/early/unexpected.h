/* SPDX-License-Identifier: MIT */
/* Receiving messages before the program asks for them (option early_receive; Mao, Song,
 * Wu, Yang, 2006, 3.1: "the worker thread receives it without hesitation"). A large message
 * on a channel (channels.h) that has come before its receive is matched and received into
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
 * MPI_Ssend, MPI_Issend and MPI_Ssend_init of large messages end the job.
 *
 * Below MPI_THREAD_MULTIPLE. All state: inside the gate. */
#ifndef MPI_EARLY_UNEXPECTED_H
#define MPI_EARLY_UNEXPECTED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/options.h"
#include "mpi/message/message.h"

/* Is anything looked for? Until then, and once MPI has ended, no message can be here. Written by the program's
 * thread inside MPI: before the engine looks for the first time, and when it is gone. */
extern bool unexpected_is_used;

/* MPI_Irecvs that have been given a message which is still arriving: calls must look for it. Written inside the
 * gate; read by any thread of the program, which has begun them or has them from who did: relaxed. */
extern _Atomic uint32_t unexpected_claims;

static inline bool unexpected_is_claimed(void)
{
    return atomic_load_explicit(&unexpected_claims, memory_order_relaxed) != 0;
}

/* Shorter messages do not keep their senders, and may be what MPI itself sends on the program's communicators when it
 * makes others (MPI_Comm_create_group; MPI_Intercomm_create refuses, since it sends the names of all processes). */
static inline uint64_t unexpected_least_bytes(void)
{
    enum { LEAST_BYTES = 4096 };
    return options.threshold_bytes > LEAST_BYTES ? options.threshold_bytes : LEAST_BYTES;
}

/* A message that was taken, until the program has received it. */
struct unexpected;

/* For the engine, beside its poke: ends what arrives, and takes what has come. Inside the gate. */
void unexpected_look(void);

/* Around a call that first looks here and then lets MPI match: nothing is taken meanwhile. */
void unexpected_pause(void);
void unexpected_resume(void);

/* The oldest message here that such a receive or probe matches, or NULL. Inside the gate. */
struct unexpected *unexpected_find(int source, int tag, MPI_Comm comm);

/* What a probe says of it. */
const MPI_Status *unexpected_status(const struct unexpected *unexpected);

/* One look whether its data are all here. Inside the gate. */
bool unexpected_has_come(struct unexpected *unexpected);

/* Gives its data to a receive's buffer and forgets it. Inside the gate, once it has come, with the
 * buffer free. Returns the receive's error, which the caller raises. */
int unexpected_give(struct unexpected *unexpected, const struct message *receive);

/* Is there a message for this blocking receive? Outside the gate, paused. */
bool unexpected_awaits(const struct message *receive);

/* The same; then it is received, and *result and *status are the receive's. */
bool unexpected_receive(struct message *receive, MPI_Status *status, int *result);

/* The program has received this way. Outside the gate. */
void unexpected_learn(const struct message *receive);

/* For MPI_Irecv, inside the gate: is there a message? Then *request ends once its data are in the buffer. */
bool unexpected_start(const struct message *receive, MPI_Request *request, int *result);

/* Where the option is on: ends a communicator by MPI's function, and forgets what belongs to it. Outside the gate. */
typedef int unexpected_end_fn(MPI_Comm *comm);
int unexpected_end_comm(MPI_Comm *comm, unexpected_end_fn *end);

/* What the program promises of a communicator changes: nothing is taken there until a rank has been named again,
 * and the promises looked at. Inside the gate. */
void unexpected_unlearn(MPI_Comm comm);

/* The program is going to match messages by `function`, which can not be given one that was taken:
 * none is taken on the communicator any more, and if one is here the job ends. Outside the gate. */
void unexpected_close(int source, int tag, MPI_Comm comm, const char *function);

/* The program sends by `function`, which is synchronous: ends the job if a receiver might
 * take the message early. */
void unexpected_refuse_synchronous(MPI_Count count, MPI_Datatype datatype, int peer, MPI_Comm comm,
                                   const char *function);

/* Before MPI_Finalize, once the engine is gone: lets all arrive. True when nothing is left. What is can still be
 * received, by functions of attributes that MPI_Finalize calls (MPI 4.1, 11.2.4), until unexpected_finish(). */
bool unexpected_settle(void);
void unexpected_finish(void);

#endif
