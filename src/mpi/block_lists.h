/* SPDX-License-Identifier: MIT */
/* Buffers of which a function names counts block by block: where these blocks lie. */
#ifndef MPI_BLOCK_LISTS_H
#define MPI_BLOCK_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/range.h"
#include "mpi/argument_buffers.h"

/* displacements: none where the blocks lie in a row. types: of each block, and then displacements are in bytes; NULL:
 * all are of one type. */
struct block_list {
    struct argument_buffer_list counts;
    struct argument_buffer_list displacements;
    const MPI_Datatype *types;
};

/* What a call says of one of its buffers: `blocks` blocks of one count and type in a row, or a list of so many.
 * absent: bit i tells that block i is nobody's (MPI_PROC_NULL), and is left alone. */
struct block_lists_side {
    MPI_Count count;
    MPI_Datatype type;
    struct block_list list;
    int blocks;
    uint64_t absent;
};

/* range: from the first byte of a block to the last, empty when there is none. bytes: of all blocks together. is_known:
 * no count is negative, and MPI tells where the bytes of the types lie. */
struct block_lists_span {
    struct range range;
    uint64_t bytes;
    bool is_known;
};

/* Of a side with a list. */
struct block_lists_span block_lists_span(const void *buffer, const struct block_lists_side *side);

/* Blocks that are received do not overlap (MPI 4.1, 6.6). */
static inline bool block_lists_have_gaps(const struct block_lists_span *span)
{
    return span->bytes != span->range.high - span->range.low;
}

#endif
