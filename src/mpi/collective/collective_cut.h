/* SPDX-License-Identifier: MIT */
/* Into which pieces a collective is cut. Every rank cuts alike, since the cuts depend on nothing else than what is the
 * same on all ranks. */
#ifndef MPI_COLLECTIVE_CUT_H
#define MPI_COLLECTIVE_CUT_H

#include <stdbool.h>
#include <stdint.h>

enum { COLLECTIVE_CUT_PIECES_MAX = 17 };

/* A buffer's first and last page may hold other data. Where the edges go first, a block's end of so many bytes is a
 * piece of its own, two pages of 4 KiB at least, and goes second. Once the first two are over, nothing is missing on
 * such pages. */
enum { COLLECTIVE_CUT_EDGE_BYTES = 16 * 1024, COLLECTIVE_CUT_EDGES = 2 };

/* Pieces are numbered as they lie in a block.
 *
 * has_short_first: the first piece is half as long as each other one, and is there sooner.
 * edge_bytes: of the last piece, where the edges go first; else 0.
 * has_whole_rest: of the first one, too, and all between them is one piece. */
struct collective_cut {
    uint32_t pieces;
    bool has_short_first;
    bool has_whole_rest;
    uint64_t edge_bytes;
    uint64_t block_bytes;
};

/* all_bytes: how much one rank sends or receives in all, in blocks of block_bytes; the longest, where they differ.
 * has_edges: the edges shall go first, if there is more than one piece. */
struct collective_cut collective_cut_make(uint64_t all_bytes, uint64_t block_bytes, bool has_edges);

/* One piece; where the edges shall go first and a block is long enough, these and one. */
struct collective_cut collective_cut_make_whole(uint64_t block_bytes, bool has_edges);

/* How much of a block the first pieces make up together. length: of the block, in whatever unit, as the answer. Whole
 * grains, but for the end; grain: a power of two. */
uint64_t collective_cut_end(const struct collective_cut *cut, uint64_t length, uint64_t grain, uint32_t pieces);

/* The same of one of several blocks, in bytes, that may differ in length: of a short one the first piece has all. */
uint64_t collective_cut_part_end(const struct collective_cut *cut, uint64_t length_bytes, uint32_t pieces);

/* The number of the piece that goes after so many others. */
uint32_t collective_cut_piece(const struct collective_cut *cut, uint32_t others);

/* How many pieces are over without a gap from the block's begin on, when so many are that have gone. */
uint32_t collective_cut_without_gap(const struct collective_cut *cut, uint32_t ended);

#endif
