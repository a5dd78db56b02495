/* SPDX-License-Identifier: MIT */
/* The op that sends of the program's own become when they outlast their wait (sent.h). */
#ifndef MPI_REQUEST_SENT_OP_H
#define MPI_REQUEST_SENT_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "mpi/dispatch.h"
#include "mpi/native.h"
#include "op/requests.h"

struct policy_site;

/* A call that waits for these requests. keys: of the handles (request_key.h), from before. */
struct sent_op_wait {
    int count;
    MPI_Request *requests;
    MPI_Status *statuses;
    uint64_t *keys;
    const void *return_address;
    /* Where it waits for one of them, or for some (then out_count is there): what polls whether it may return. */
    int *out_count;
    int *indices;
    dispatch_poll_fn *poll;
    void *argument;
    bool has_persistent; /* handles to show again, once the call is over */
    /* Sends are waited for after all, from then on: what that takes is learnt. NULL: none are. */
    struct policy_site *site;
    uint32_t situation;
    int64_t begun_ns;
};

struct sent_op_send {
    int index; /* in the call's array */
    struct requests_send send;
};

/* The call's sends that are still under way, in the order of its array. */
struct sent_op_sends {
    int count;
    struct sent_op_send all[NATIVE_SENDS_MAX];
};

/* Where that is worth it, and possible, these become an op. Of a call that waits for all, all others are over. Handles
 * of sends that the op has are null afterwards; their keys, too, but for persistent ones. */
bool sent_op_try(struct sent_op_wait *wait, const struct sent_op_sends *sents);

#endif
