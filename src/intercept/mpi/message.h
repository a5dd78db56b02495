/* SPDX-License-Identifier: MIT */
/* One direction of a blocking call, and the question whether it may return
 * early. */
#ifndef INTERCEPT_MPI_MESSAGE_H
#define INTERCEPT_MPI_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/pages.h"
#include "base/reasons.h"
#include "intercept/transfer.h"

struct message {
    enum policy_direction direction;
    void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer;
    int tag;
    MPI_Comm comm;
    /* Filled by message_measure(). */
    bool is_measured; /* layout known, no gaps */
    uint64_t bytes;
    struct range range;
    struct policy_site *site;
};

/* Fills where the bytes lie. Cheap: for every message. */
void message_measure(struct message *message);

/* Is it below the threshold (or not to be measured)? Cheap. */
static inline bool message_is_small(const struct message *message)
{
    return message->bytes < options.threshold_bytes;
}

/* Why this message must be passed, or REASON_NONE. Looks at everything but the
 * neighbours and the table of ops. */
enum reason message_judge(struct message *message, const void *return_address);

/* Starts a nonblocking send or receive of the message at `buffer`. Inside the gate. */
typedef int message_start_fn(const struct message *message, void *buffer, MPI_Request *request);
int message_start_send(const struct message *message, void *buffer, MPI_Request *request);
int message_start_ready_send(const struct message *message, void *buffer, MPI_Request *request);
int message_start_receive(const struct message *message, void *buffer, MPI_Request *request);

/* Starts the message, and holds its memory until it is over. On REASON_NONE the
 * call may return *result. Otherwise, when *request is not MPI_REQUEST_NULL the
 * message is under way and must be waited for; else nothing was started.
 * `status`: of a receive, to be promised; else MPI_STATUS_IGNORE. */
enum reason message_start_early(struct message *message, message_start_fn *start, MPI_Status *status,
                                MPI_Request *request, int *result);

/* Waits for a request as MPI_Wait does, testing the pending ops in between so
 * that other threads' touches are released in the meantime. */
int message_finish(MPI_Request *request, MPI_Status *status);

#endif
