/* SPDX-License-Identifier: MIT */
/* Sends of the program's own that are under way when it waits for them (MPI_Isend, MPI_Irsend, or their persistent
 * twins; then MPI_Wait, MPI_Waitall). With MPI alone a late receiver stops the sender there. Where that is worth it,
 * they become one op: their buffers are held as that of a blocking send, the requests are the op's from then on, and the
 * program's handles are null, as after its wait. It keeps those of persistent ones (persistent.h).
 *
 * Only what the wait would end on is left to do: all other requests of the call are over before. So nothing but the
 * sends can be early, and MPI itself gives the call its result and its statuses. Of a send's status nothing is defined
 * but its error (MPI 4.1, 3.7.3) and that it was not cancelled. */
#ifndef MPI_REQUEST_SENT_H
#define MPI_REQUEST_SENT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

struct policy_site;

/* A call that waits for all of these requests. keys: of the handles (request_key.h), from before. */
struct sent_wait {
    int count;
    MPI_Request *requests;
    MPI_Status *statuses;
    uint64_t *keys;
    const void *return_address;
    bool has_persistent; /* handles to show again, once the call is over */
    /* Sends are waited for after all, from then on: what that takes is learnt. NULL: none are. */
    struct policy_site *site;
    uint32_t situation;
    int64_t begun_ns;
};

/* Before the call goes to MPI, outside the gate. Handles of sends that the op has are null afterwards; their keys, too,
 * but for persistent ones. */
void sent_defer(struct sent_wait *wait);

/* After it. */
void sent_learn(const struct sent_wait *wait);

#endif
