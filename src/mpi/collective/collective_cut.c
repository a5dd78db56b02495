/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_cut.h"

/* A piece is a message of its own, with its price. */
enum { PIECES_MOST = COLLECTIVE_CUT_PIECES_MAX - 1, PIECE_BYTES_LEAST = 128 * 1024, PIECE_OF_BLOCK_LEAST = 4096 };

/* What the first piece is one of, and every other piece two, where it is short. */
static uint64_t cut_halves(uint32_t pieces)
{
    return 2 * (uint64_t)pieces - 1;
}

/* Two pieces are under way at a time, and share the network: a first one of 1/16 is over after 1/8 of the transfer,
 * half of it after 1/16. */
static bool first_may_be_short(uint64_t all_bytes, uint64_t block_bytes, uint32_t pieces)
{
    uint64_t halves = cut_halves(pieces);
    return all_bytes / halves >= PIECE_BYTES_LEAST && block_bytes / halves >= PIECE_OF_BLOCK_LEAST;
}

static void cut_add_edge(struct collective_cut *cut)
{
    cut->edge_bytes = COLLECTIVE_CUT_EDGE_BYTES;
    cut->pieces++;
}

struct collective_cut collective_cut_make(uint64_t all_bytes, uint64_t block_bytes, bool has_edges)
{
    uint64_t pieces = all_bytes / PIECE_BYTES_LEAST;
    uint64_t most = block_bytes / PIECE_OF_BLOCK_LEAST;
    pieces = pieces < most ? pieces : most;
    pieces = pieces < PIECES_MOST ? pieces : PIECES_MOST;
    struct collective_cut cut = {.pieces = pieces == 0 ? 1 : (uint32_t)pieces, .block_bytes = block_bytes};
    cut.has_short_first = cut.pieces > 1 && first_may_be_short(all_bytes, block_bytes, cut.pieces);
    if (has_edges && cut.pieces > 1 && block_bytes / cut.pieces > COLLECTIVE_CUT_EDGE_BYTES)
        cut_add_edge(&cut);
    return cut;
}

struct collective_cut collective_cut_make_whole(uint64_t block_bytes, bool has_edges)
{
    enum { PIECES = 2, BLOCK_EDGES_LEAST = 8 };
    struct collective_cut cut = {.pieces = 1, .block_bytes = block_bytes};
    if (!has_edges || block_bytes < BLOCK_EDGES_LEAST * (uint64_t)COLLECTIVE_CUT_EDGE_BYTES)
        return cut;
    cut.pieces = PIECES;
    cut.has_whole_rest = true;
    cut_add_edge(&cut);
    return cut;
}

/* Whole units. */
static uint64_t cut_edge(const struct collective_cut *cut, uint64_t length)
{
    return cut->edge_bytes == 0 ? 0 : (length * cut->edge_bytes + cut->block_bytes - 1) / cut->block_bytes;
}

uint64_t collective_cut_end(const struct collective_cut *cut, uint64_t length, uint64_t grain, uint32_t pieces)
{
    if (pieces == 0 || pieces == cut->pieces)
        return pieces == 0 ? 0 : length;
    if (cut->has_whole_rest && pieces == 1)
        return (cut_edge(cut, length) + grain - 1) & ~(grain - 1);
    uint32_t others = cut->pieces - (cut->edge_bytes != 0);
    uint64_t part = cut->has_short_first ? cut_halves(pieces) : pieces;
    uint64_t whole = cut->has_short_first ? cut_halves(others) : others;
    return (length - cut_edge(cut, length)) * part / whole & ~(grain - 1);
}

uint32_t collective_cut_piece(const struct collective_cut *cut, uint32_t others)
{
    if (cut->edge_bytes == 0 || others == 0)
        return others;
    return others == 1 ? cut->pieces - 1 : others - 1;
}

uint32_t collective_cut_without_gap(const struct collective_cut *cut, uint32_t ended)
{
    bool is_edge_ahead = cut->edge_bytes != 0 && ended > 1 && ended < cut->pieces;
    return ended - is_edge_ahead;
}

/* In units of PIECE_OF_BLOCK_LEAST, one at least: some of each block is there with the first piece. */
uint64_t collective_cut_part_end(const struct collective_cut *cut, uint64_t length_bytes, uint32_t pieces)
{
    enum { GRAIN = PIECE_OF_BLOCK_LEAST };
    if (pieces == 0)
        return 0;
    uint64_t share = collective_cut_end(cut, length_bytes, 1, pieces);
    uint64_t end = share == 0 ? GRAIN : (share + GRAIN - 1) & ~(uint64_t)(GRAIN - 1);
    return end < length_bytes ? end : length_bytes;
}
