/* SPDX-License-Identifier: MIT */
/* Claims: what one rank moves is cut into at most 16 pieces of at least 128 KiB, which together are all of it. Large
 * collectives have a first piece so short that it is over within a tenth of the time, while two travel at a time; small
 * ones do not, and have no more pieces for it. Of blocks that differ in length the first piece has some of each. Where
 * it is asked for, a block's edges go first. */
#include "mpi/collective/collective_cut.h"

#include "../base/claim.h"

enum { PIECES_MOST = 16, KIB = 1024, MIB = 1024 * KIB, LINE = 64, TENTH = 10, AT_A_TIME = 2 };

static uint64_t piece(const struct collective_cut *cut, uint64_t length, uint32_t number)
{
    return collective_cut_end(cut, length, LINE, number + 1) - collective_cut_end(cut, length, LINE, number);
}

static void pieces_make_up_the_whole(void)
{
    for (uint64_t bytes = KIB; bytes < 256 * (uint64_t)MIB; bytes = bytes * 3 / 2 + 7) {
        struct collective_cut cut = collective_cut_make(bytes, bytes, false);
        claim(cut.pieces >= 1 && cut.pieces <= COLLECTIVE_CUT_PIECES_MAX, "a number of pieces that an op has room for");
        claim(collective_cut_end(&cut, bytes, LINE, 0) == 0, "the first begins at the beginning");
        claim(collective_cut_end(&cut, bytes, LINE, cut.pieces) == bytes, "the last ends at the end");
        for (uint32_t i = 0; cut.pieces > 1 && i < cut.pieces; i++)
            claim(piece(&cut, bytes, i) + LINE > 128 * KIB, "none is short");
    }
}

static void the_first_piece_of_much_is_there_soon(void)
{
    for (uint64_t bytes = 4 * (uint64_t)MIB; bytes <= 1024 * (uint64_t)MIB; bytes *= 2) {
        struct collective_cut cut = collective_cut_make(bytes, bytes, false);
        claim(cut.pieces == PIECES_MOST, "as many pieces as there may be");
        claim(AT_A_TIME * piece(&cut, bytes, 0) <= bytes / TENTH, "within a tenth, beside another one");
    }
}

static void small_ones_are_cut_evenly(void)
{
    struct collective_cut cut = collective_cut_make(2 * MIB, 2 * MIB, false);
    for (uint32_t i = 0; i < cut.pieces; i++)
        claim(piece(&cut, 2 * MIB, i) == 128 * KIB, "16 pieces of 128 KiB");
    claim(collective_cut_make(256 * KIB - 1, 256 * KIB - 1, false).pieces == 1, "less than two pieces are one");
}

/* Of each of 1024 blocks of 8 KiB a piece has half. */
static void blocks_are_cut_into_pages_at_least(void)
{
    struct collective_cut cut = collective_cut_make(8 * MIB, 8 * KIB, false);
    claim(cut.pieces == 2 && !cut.has_short_first, "a page of each block at a time");
}

static uint64_t part(const struct collective_cut *cut, uint64_t length, uint32_t number)
{
    return collective_cut_part_end(cut, length, number + 1) - collective_cut_part_end(cut, length, number);
}

/* One long block among shorter ones. */
static void every_block_comes_with_the_first_piece(void)
{
    struct collective_cut cut = collective_cut_make(8 * MIB + 7, 7 * MIB, false);
    for (uint64_t length = 1; length <= 7 * (uint64_t)MIB; length = length * 3 / 2 + 1) {
        claim(part(&cut, length, 0) != 0 && part(&cut, length, 0) <= length, "some of it comes with the first");
        claim(length > 4 * KIB || part(&cut, length, 0) == length, "all of it, where that is less than a page");
        claim(collective_cut_part_end(&cut, length, cut.pieces) == length, "the last ends at the end");
        for (uint32_t i = 0; i + 1 < cut.pieces; i++) {
            uint64_t end = collective_cut_part_end(&cut, length, i + 1);
            claim(end == length || part(&cut, length, i) % (4 * KIB) == 0, "whole pages in each but the last");
        }
    }
    claim(collective_cut_part_end(&cut, 0, 1) == 0, "of nothing nothing");
}

/* The ends of the blocks, which may share a page with other data, follow the first piece, and are a short one. */
static void edges_go_first(void)
{
    struct collective_cut cut = collective_cut_make(2 * MIB, 2 * MIB, true);
    uint64_t end = 0;
    bool has_gone[COLLECTIVE_CUT_PIECES_MAX] = {false};
    claim(cut.pieces == PIECES_MOST + 1 && cut.edge_bytes != 0, "one piece more");
    claim(piece(&cut, 2 * MIB, cut.pieces - 1) >= COLLECTIVE_CUT_EDGE_BYTES, "two pages");
    claim(piece(&cut, 2 * MIB, cut.pieces - 1) < 2 * COLLECTIVE_CUT_EDGE_BYTES, "and little more");
    claim(collective_cut_piece(&cut, 0) == 0 && collective_cut_piece(&cut, 1) == cut.pieces - 1, "the edges first");
    for (uint32_t i = 0; i < cut.pieces; i++)
        has_gone[collective_cut_piece(&cut, i)] = true;
    for (uint32_t i = 0; i < cut.pieces; i++)
        claim(has_gone[i], "then all others");
    for (uint32_t i = 0; i <= cut.pieces; i++) {
        uint64_t come = collective_cut_end(&cut, 2 * MIB, LINE, collective_cut_without_gap(&cut, i));
        claim(come >= end && (i == cut.pieces) == (come == 2 * MIB), "what has come grows, and is all only in the end");
        end = come;
    }
}

static void what_stays_whole_has_edges_too(void)
{
    struct collective_cut cut = collective_cut_make_whole(2 * MIB, true);
    claim(cut.pieces == 3 && collective_cut_piece(&cut, 1) == 2, "two edges and the rest");
    claim(piece(&cut, 2 * MIB, 0) == COLLECTIVE_CUT_EDGE_BYTES, "the first is short");
    claim(piece(&cut, 2 * MIB, 2) == COLLECTIVE_CUT_EDGE_BYTES, "and so is the last");
    claim(collective_cut_end(&cut, 2 * MIB, LINE, 3) == 2 * MIB, "the whole");
    claim(collective_cut_make_whole(64 * KIB, true).pieces == 1, "not where there would be little between them");
    claim(collective_cut_make_whole(2 * MIB, false).pieces == 1, "nor where nobody needs it");
}

static void short_blocks_have_no_edges(void)
{
    struct collective_cut cut = collective_cut_make(8 * MIB, 8 * KIB, true);
    claim(cut.edge_bytes == 0 && collective_cut_piece(&cut, 1) == 1, "in their order");
    claim(collective_cut_without_gap(&cut, 1) == 1, "in their order");
}

/* What is counted in elements of 12 bytes has edges of as many as it takes. */
static void edges_are_whole_elements(void)
{
    enum { ELEMENT_BYTES = 12, COUNT = 100000 };
    struct collective_cut cut = collective_cut_make(COUNT * ELEMENT_BYTES, COUNT * ELEMENT_BYTES, true);
    uint64_t edge = COUNT - collective_cut_end(&cut, COUNT, 1, cut.pieces - 1);
    claim(edge * ELEMENT_BYTES >= COLLECTIVE_CUT_EDGE_BYTES, "no less than asked for");
    claim((edge - 1) * ELEMENT_BYTES < COLLECTIVE_CUT_EDGE_BYTES, "and no more");
}

int main(void)
{
    every_block_comes_with_the_first_piece();
    pieces_make_up_the_whole();
    the_first_piece_of_much_is_there_soon();
    small_ones_are_cut_evenly();
    blocks_are_cut_into_pages_at_least();
    edges_go_first();
    what_stays_whole_has_edges_too();
    short_blocks_have_no_edges();
    edges_are_whole_elements();
    return 0;
}
