/* SPDX-License-Identifier: MIT */
/* Into which pieces a collective is cut. Every rank cuts alike, since the cuts depend on nothing else than what is the
 * same on all ranks. */
#ifndef MPI_COLLECTIVE_CUT_H
#define MPI_COLLECTIVE_CUT_H

#include <stdbool.h>
#include <stdint.h>

enum { COLLECTIVE_CUT_PIECES_MAX = 16 };

/* has_short_first: the first piece is half as long as each other one, and is there sooner. */
struct collective_cut {
    uint32_t pieces;
    bool has_short_first;
};

/* all_bytes: how much one rank sends or receives in all, in blocks of block_bytes. */
struct collective_cut collective_cut_make(uint64_t all_bytes, uint64_t block_bytes);

/* How much of `length`, in whatever unit, the first pieces make up together: whole grains, but for the end. grain: a
 * power of two. */
uint64_t collective_cut_end(const struct collective_cut *cut, uint64_t length, uint64_t grain, uint32_t pieces);

#endif
