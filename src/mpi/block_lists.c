/* SPDX-License-Identifier: MIT */
#include "mpi/block_lists.h"

#include "mpi/datatypes.h"

static void span_include(struct block_lists_span *span, struct range part)
{
    if (base_range_is_empty(part))
        return;
    span->range = base_range_is_empty(span->range) ? part : base_range_around(span->range, part);
}

static bool block_is_absent(const struct block_lists_side *side, int block)
{
    enum { BITS = 64 };
    return block < BITS && (side->absent >> block & 1) != 0;
}

static bool span_add(struct block_lists_span *span, const void *buffer, const struct block_lists_side *side, int block)
{
    const struct block_list *list = &side->list;
    MPI_Count count = argument_buffers_at(list->counts, block);
    if (count == 0 || block_is_absent(side, block))
        return true;
    const struct type_layout *layout = datatype_layout(list->types != NULL ? list->types[block] : side->type);
    if (count < 0 || !layout->is_known)
        return false;
    int64_t unit_bytes = list->types != NULL ? 1 : layout->extent_bytes;
    uintptr_t at = (uintptr_t)buffer + (uintptr_t)(argument_buffers_at(list->displacements, block) * unit_bytes);
    span_include(span, datatype_span(layout, (const void *)at, count));
    span->bytes += (uint64_t)layout->size_bytes * (uint64_t)count;
    return true;
}

struct block_lists_span block_lists_span(const void *buffer, const struct block_lists_side *side)
{
    struct block_lists_span span = {.is_known = true};
    for (int i = 0; span.is_known && i < side->blocks; i++)
        span.is_known = span_add(&span, buffer, side, i);
    return span;
}
