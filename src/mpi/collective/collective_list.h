/* SPDX-License-Identifier: MIT */
/* The lists of functions that name counts rank by rank: where the blocks lie, and copies for as long as MPI needs
 * them. */
#ifndef MPI_COLLECTIVE_LIST_H
#define MPI_COLLECTIVE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/range.h"
#include "mpi/collective/collective_work.h"

/* A list may have been received, and be under way still. Outside the gate, before anybody reads it. blocks: its
 * length. */
void collective_list_wait(const struct block_list *list, int blocks);

/* The sum of its counts; below 0 where one is, which MPI refuses by itself. */
MPI_Count collective_list_count(const struct block_list *list, int blocks);

/* Is the longest of these blocks no longer than so many of the shortest? */
bool collective_list_is_even(const struct block_list *list, int blocks, int times);

/* Gives the work lists of its own, which are to be freed; NULL when it has none. */
void *collective_list_keep(struct collective_work *work);

/* Names the same blocks from an address that lies further on. The side gets displacements of its own, which are to be
 * freed. */
void *collective_list_move(struct block_lists_side *side, int64_t *further_bytes);

#endif
