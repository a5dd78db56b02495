/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_places.h"

#include <limits.h>

#include "mpi/collective/collective_alone.h"

enum { LISTS_PER_SIDE = 2 }; /* counts and displacements */

bool collective_places_fit(int blocks, uint64_t block_bytes)
{
    return (uint64_t)blocks * block_bytes <= INT_MAX;
}

int *collective_places_new(int blocks, uint32_t pieces)
{
    uint64_t lists = (uint64_t)pieces * COLLECTIVE_PLACES_SIDES * LISTS_PER_SIDE;
    return collective_alone_memory(lists * (uint64_t)blocks * sizeof(int), "the places of a collective's blocks");
}

struct collective_places_side collective_places_list(int *places, int blocks, uint32_t piece,
                                                     struct collective_places_part part)
{
    uint64_t sides_before = (uint64_t)piece * COLLECTIVE_PLACES_SIDES + (uint64_t)part.side;
    int *counts = places + sides_before * LISTS_PER_SIDE * (uint64_t)blocks;
    int *displacements = counts + blocks;
    for (int i = 0; i < blocks; i++) {
        counts[i] = (int)part.length_bytes;
        displacements[i] = (int)((uint64_t)i * part.stride_bytes);
    }
    return (struct collective_places_side){counts, displacements};
}
