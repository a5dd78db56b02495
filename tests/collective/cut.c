/* SPDX-License-Identifier: MIT */
/* Claims: what one rank moves is cut into at most 16 pieces of at least 128 KiB, which together are all of it. Large
 * collectives have a first piece so short that it is over within a tenth of the time, while two travel at a time; small
 * ones do not, and have no more pieces for it. */
#include "mpi/collective/collective_cut.h"

#include "../base/claim.h"

enum { KIB = 1024, MIB = 1024 * KIB, LINE = 64, TENTH = 10, AT_A_TIME = 2 };

static uint64_t piece(const struct collective_cut *cut, uint64_t length, uint32_t number)
{
    return collective_cut_end(cut, length, LINE, number + 1) - collective_cut_end(cut, length, LINE, number);
}

static void pieces_make_up_the_whole(void)
{
    for (uint64_t bytes = KIB; bytes < 256 * (uint64_t)MIB; bytes = bytes * 3 / 2 + 7) {
        struct collective_cut cut = collective_cut_make(bytes, bytes);
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
        struct collective_cut cut = collective_cut_make(bytes, bytes);
        claim(cut.pieces == COLLECTIVE_CUT_PIECES_MAX, "as many pieces as an op has room for");
        claim(AT_A_TIME * piece(&cut, bytes, 0) <= bytes / TENTH, "within a tenth, beside another one");
    }
}

static void small_ones_are_cut_evenly(void)
{
    struct collective_cut cut = collective_cut_make(2 * MIB, 2 * MIB);
    for (uint32_t i = 0; i < cut.pieces; i++)
        claim(piece(&cut, 2 * MIB, i) == 128 * KIB, "16 pieces of 128 KiB");
    claim(collective_cut_make(256 * KIB - 1, 256 * KIB - 1).pieces == 1, "less than two pieces are one");
}

/* Of each of 1024 blocks of 8 KiB a piece has half. */
static void blocks_are_cut_into_pages_at_least(void)
{
    struct collective_cut cut = collective_cut_make(8 * MIB, 8 * KIB);
    claim(cut.pieces == 2 && !cut.has_short_first, "a page of each block at a time");
}

int main(void)
{
    pieces_make_up_the_whole();
    the_first_piece_of_much_is_there_soon();
    small_ones_are_cut_evenly();
    blocks_are_cut_into_pages_at_least();
    return 0;
}
