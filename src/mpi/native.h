/* SPDX-License-Identifier: MIT */
/* The part of a transfer that has MPI's types, one per slot of transfer.h.
 * Written by the thread that starts the op, then by the one that tests it. */
#ifndef MPI_NATIVE_H
#define MPI_NATIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/range.h"
#include "mpi/errors.h"
#include "op/transfer.h"

enum { NATIVE_SENDS_MAX = 32 };

/* How far an op has come whose message does not start at once (message/message_turn.h): it waits for its turn; it is
 * matched, and its data are still to be asked for; MPI has its request. */
enum native_stage { NATIVE_STARTED, NATIVE_IN_LINE, NATIVE_MATCHED };

/* Of a receive whose buffer is held from its MPI_Irecv on (request/ahead.h). `request` is the program's then. */
struct native_ahead {
    int source;
    int tag;
    struct range bytes;
    bool is_in_call;   /* which may complete it, or has */
    bool is_unmatched; /* counted as such (op/transfer.h) */
};

struct native {
    MPI_Request request;
    struct errors_home home; /* whose handler hears of its errors */
    /* Of its status (status.h); 0: nobody looks at it, or it is settled. Read by accessors. */
    _Atomic uint32_t status_number;
    enum native_stage stage;
    int start_result; /* of its start, where that came later */
    /* Of an op that the program's own sends have become (request/sent.h): those before send_count may be under way. */
    uint32_t send_count;
    MPI_Request sends[NATIVE_SENDS_MAX];
    struct native_ahead ahead;
    int64_t patience_ns; /* of a freed send (request/freed.h): so long a call may wait for it; 0: none does any more */
};

extern struct native native_slots[TRANSFERS_MAX];

static inline struct native *native_of(const struct transfer *transfer)
{
    return &native_slots[transfer->slot];
}

#endif
