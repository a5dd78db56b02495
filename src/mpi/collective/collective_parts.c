/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_parts.h"

#include <stdlib.h>

#include "mpi/collective/collective_alone.h"
#include "mpi/datatypes.h"

/* --- what the program's lists say --- */

static uint64_t block_length(const struct block_lists_side *side, int block)
{
    return (uint64_t)argument_buffers_at(side->list.counts, block) * (uint64_t)datatype_layout(side->type)->size_bytes;
}

static int64_t block_place(const struct block_lists_side *side, int block)
{
    return argument_buffers_at(side->list.displacements, block) * datatype_layout(side->type)->extent_bytes;
}

uint64_t collective_parts_longest(const struct block_lists_side *side)
{
    uint64_t longest = 0;
    for (int i = 0; i < side->blocks; i++)
        longest = block_length(side, i) > longest ? block_length(side, i) : longest;
    return longest;
}

/* Displacements of blocks of nothing may be anything: no piece has them. */
bool collective_parts_reach(const struct block_lists_side *side)
{
    for (int i = 0; i < side->blocks; i++) {
        uint64_t length = block_length(side, i);
        int64_t place = block_place(side, i);
        if (length != 0 && (place < INT32_MIN || place + (int64_t)length > INT32_MAX))
            return false;
    }
    return true;
}

/* --- where the blocks lie --- */

static void blocks_place(struct collective_parts *parts, const struct block_lists_side *side, bool is_in_a_row)
{
    int64_t behind = 0;
    for (int i = 0; i < parts->blocks; i++) {
        struct collective_parts_block block = {behind, block_length(side, i)};
        if (!is_in_a_row)
            block.place = block.length != 0 ? block_place(side, i) : 0;
        parts->all[i] = block;
        behind += (int64_t)block.length;
    }
}

static int block_compare(const void *one, const void *other)
{
    int64_t first = ((const struct collective_parts_block *)one)->place;
    int64_t second = ((const struct collective_parts_block *)other)->place;
    return (first > second) - (first < second);
}

static void blocks_order(struct collective_parts *parts)
{
    bool is_ordered = true;
    for (int i = 0; i < parts->blocks; i++) {
        struct collective_parts_block *next = &parts->in_order[parts->ordered];
        if (parts->all[i].length == 0)
            continue;
        *next = parts->all[i];
        is_ordered = is_ordered && (parts->ordered == 0 || next[-1].place <= next->place);
        parts->ordered++;
    }
    if (!is_ordered)
        qsort(parts->in_order, (size_t)parts->ordered, sizeof *parts->in_order, block_compare);
}

struct collective_parts *collective_parts_new(const struct block_lists_side *side, int own, uint32_t pieces,
                                              bool is_in_a_row)
{
    uint64_t blocks = (uint64_t)side->blocks;
    uint64_t lists_bytes = 2 * (uint64_t)pieces * blocks * sizeof(int);
    struct collective_parts *parts = collective_alone_memory(
        sizeof *parts + 2 * blocks * sizeof *parts->all + lists_bytes, "the parts of a collective");
    parts->blocks = side->blocks;
    parts->own = own;
    parts->all = (struct collective_parts_block *)(parts + 1);
    parts->in_order = parts->all + blocks;
    parts->lists = (int *)(parts->in_order + blocks);
    blocks_place(parts, side, is_in_a_row);
    blocks_order(parts);
    return parts;
}

/* --- pieces --- */

uint64_t collective_parts_gone(const struct collective_parts *parts, const struct collective_cut *cut, uint32_t pieces)
{
    return collective_cut_part_end(cut, parts->all[parts->own].length, pieces);
}

struct collective_parts_piece collective_parts_list(struct collective_parts *parts, const struct collective_cut *cut,
                                                    uint32_t piece)
{
    int *counts = parts->lists + 2 * (uint64_t)piece * (uint64_t)parts->blocks;
    int *displacements = counts + parts->blocks;
    for (int i = 0; i < parts->blocks; i++) {
        struct collective_parts_block block = parts->all[i];
        uint64_t low = collective_cut_part_end(cut, block.length, piece);
        counts[i] = (int)(collective_cut_part_end(cut, block.length, piece + 1) - low);
        displacements[i] = (int)(block.place + (int64_t)low);
    }
    return (struct collective_parts_piece){.counts = counts,
                                           .displacements = displacements,
                                           .own_low = collective_parts_gone(parts, cut, piece),
                                           .own_high = collective_parts_gone(parts, cut, piece + 1)};
}

/* --- holds --- */

static int64_t blocks_end(const struct collective_parts *parts)
{
    const struct collective_parts_block *last = &parts->in_order[parts->ordered - 1];
    return last->place + (int64_t)last->length;
}

void collective_parts_share(struct collective_parts *parts, uint64_t least_bytes)
{
    parts->holds = 0;
    if (parts->ordered == 0)
        return;
    int64_t begin = parts->in_order[0].place;
    int64_t end = blocks_end(parts);
    int64_t share = (end - begin) / COLLECTIVE_PARTS_HOLDS_MAX + 1;
    share = share > (int64_t)least_bytes ? share : (int64_t)least_bytes;
    parts->holds = 1;
    for (int at = 1; at < parts->ordered; at++) {
        int64_t place = parts->in_order[at].place;
        if (place - begin < share || end - place < (int64_t)least_bytes)
            continue;
        begin = place;
        parts->first_of_hold[parts->holds++] = at;
    }
    parts->first_of_hold[parts->holds] = parts->ordered;
}

int64_t collective_parts_begin(const struct collective_parts *parts, uint32_t hold)
{
    return parts->in_order[parts->first_of_hold[hold]].place;
}

int64_t collective_parts_come(const struct collective_parts *parts, const struct collective_cut *cut, uint32_t hold,
                              uint32_t pieces)
{
    int at = parts->first_of_hold[hold];
    int last = parts->first_of_hold[hold + 1] - 1;
    const struct collective_parts_block *block = &parts->in_order[at];
    while (at < last && collective_cut_part_end(cut, block->length, pieces) == block->length)
        block = &parts->in_order[++at];
    return block->place + (int64_t)collective_cut_part_end(cut, block->length, pieces);
}
