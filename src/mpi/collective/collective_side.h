/* SPDX-License-Identifier: MIT */
/* What a collective that returns early holds of the memory that it receives in, and of that which it sends. */
#ifndef MPI_COLLECTIVE_SIDE_H
#define MPI_COLLECTIVE_SIDE_H

#include <stdint.h>

#include "base/range.h"
#include "mpi/collective/collective_call.h"
#include "mpi/collective/collective_work.h"
#include "op/transfer.h"

/* Memory that is held: by so many holds of its transfer from `first` on, one for each block, or one for all.
 * block: where the program has the first block; 0: nothing is given back before the end. */
struct collective_side {
    uint32_t first;
    uint32_t holds;
    uintptr_t block;
};

/* Inside the gate, as all of these. held: the pages of what is received. parts: of blocks that differ in length, or
 * NULL. REASON_NONE: held, or there is nothing to hold. */
enum reason collective_side_hold_receive(struct transfer *transfer, const struct collective_call *call,
                                         struct collective_parts *parts, struct range held,
                                         struct collective_side *side);

/* MPI may write what the root of a broadcast sends, with the bytes that are there: MPICH lets all ranks exchange what
 * it has scattered. So the pages move, as those of a receive; the program gets copies of what it touches, or waits.
 * Nothing, of other calls. */
enum reason collective_side_hold_root(struct transfer *transfer, const struct collective_call *call,
                                      struct collective_side *side);

/* Of what is sent, but for a broadcast's. */
enum reason collective_side_hold_send(struct transfer *transfer, const struct collective_call *call,
                                      struct collective_side *side);

/* Gives back what has come, or gone. */
void collective_side_release_receive(struct transfer *transfer, const struct collective_side *side,
                                     const struct collective_work *work);
void collective_side_release_send(struct transfer *transfer, const struct collective_side *side,
                                  const struct collective_work *work);

/* The pages on which anything is missing once the edges are there. Empty: other data share them, or there are none. */
struct range collective_side_between_edges(const struct collective_call *call, const struct collective_work *work);

#endif
