/* SPDX-License-Identifier: MIT */
/* Blocks of different lengths, of which each piece of a collective carries a part. All counts are known to all ranks,
 * and the parts are counted in bytes: so all ranks cut alike, whatever their types and wherever their blocks lie. */
#ifndef MPI_COLLECTIVE_PARTS_H
#define MPI_COLLECTIVE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/block_lists.h"
#include "mpi/collective/collective_cut.h"

enum { COLLECTIVE_PARTS_HOLDS_MAX = 16 };

/* In bytes, from the buffer on. */
struct collective_parts_block {
    int64_t place;
    uint64_t length;
};

/* One block for each rank. in_order: those `ordered` that are not empty, as they lie in memory. lists: counts and
 * displacements of each piece, until it is over. first_of_hold: which of them, in order, a hold begins with; one more
 * for the end. */
struct collective_parts {
    int blocks;
    int own; /* this rank's */
    int ordered;
    struct collective_parts_block *all;
    struct collective_parts_block *in_order;
    int *lists;
    uint32_t holds;
    int first_of_hold[COLLECTIVE_PARTS_HOLDS_MAX + 1];
};

/* What a piece moves: from all ranks, and of this rank's own block. */
struct collective_parts_piece {
    const int *counts;
    const int *displacements;
    uint64_t own_low;
    uint64_t own_high;
};

/* The longest block of a list, in bytes. */
uint64_t collective_parts_longest(const struct block_lists_side *side);

/* Can all places be named in bytes, by an int? */
bool collective_parts_reach(const struct block_lists_side *side);

/* To be freed. is_in_a_row: the blocks lie one behind the other, not where the list says. */
struct collective_parts *collective_parts_new(const struct block_lists_side *side, int own, uint32_t pieces,
                                              bool is_in_a_row);

/* The lists of a piece, which stay. */
struct collective_parts_piece collective_parts_list(struct collective_parts *parts, const struct collective_cut *cut,
                                                    uint32_t piece);

/* How much of this rank's own block so many pieces make up together. */
uint64_t collective_parts_gone(const struct collective_parts *parts, const struct collective_cut *cut, uint32_t pieces);

/* Shares the blocks out among holds, each of at least so many bytes. None where there is no block. */
void collective_parts_share(struct collective_parts *parts, uint64_t least_bytes);

/* Where the first block of a hold lies. */
int64_t collective_parts_begin(const struct collective_parts *parts, uint32_t hold);

/* Up to where all of a hold has come with so many pieces. */
int64_t collective_parts_come(const struct collective_parts *parts, const struct collective_cut *cut, uint32_t hold,
                              uint32_t pieces);

#endif
