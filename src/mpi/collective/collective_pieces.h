/* SPDX-License-Identifier: MIT */
/* The pieces of a collective on their way: two are under way at a time, and each that is over lets another start. */
#ifndef MPI_COLLECTIVE_PIECES_H
#define MPI_COLLECTIVE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "mpi/collective/collective_work.h"
#include "mpi/errors.h"

/* The collectives of this process that have pieces to start, and the lock of all of them. start_all: calls
 * collective_pieces_start_all() with it, for calls that go to MPI (mpi/dispatch.h). */
struct collective_pieces_queue {
    struct base_lock lock;
    struct collective_pieces *first;
    void (*start_all)(void);
};

/* In the slot of a transfer, or in the frame of a call that waits. Written by the call before it begins; then by who
 * asks for its pieces or starts them, under the lock. */
struct collective_pieces {
    struct collective_work work;
    struct errors_home home;
    struct collective_pieces_queue *queue;
    struct collective_pieces *next; /* in the queue */
    bool is_queued;
    bool waits_for_edges; /* no other piece is started before these are over */
    int failure;          /* of a start */
};

/* Inside the gate, as the next three. Starts the first pieces. The others are started as these end, or before another
 * call of the program's. */
void collective_pieces_begin(struct collective_pieces *pieces);

/* Before another call of the program's goes to MPI: it may wait there for a rank that waits for these pieces. */
void collective_pieces_start_all(struct collective_pieces_queue *queue);

/* Under the lock. The next ones wait until those are over that are to go first. */
void collective_pieces_start_next(struct collective_pieces *pieces);

/* True when all are over: *result is what MPI said. */
bool collective_pieces_advance(struct collective_pieces *pieces, int *result);

/* Outside the gate. Waits until so many are over. Returns what MPI has said so far. */
int collective_pieces_wait(struct collective_pieces *pieces, uint32_t until);

/* Outside the gate. Pieces travel on a communicator of ours, where no error is raised: it belongs to the program's.
 * Returns result. */
int collective_pieces_raise(const struct collective_pieces *pieces, int result);

#endif
