/* SPDX-License-Identifier: MIT */
/* The parts of equal blocks that a piece moves, by counts and displacements in bytes.
 *
 * MPICH packs what a type with gaps describes, a single block of it, too: over TCP (UCX) it then goes in parts of 8
 * KiB, each by a system call, and not by one. A list of places needs no such type. */
#ifndef MPI_COLLECTIVE_PLACES_H
#define MPI_COLLECTIVE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* One side of a piece, as MPI_Ialltoallv takes it. MPI needs the lists until the piece is over (MPI 4.1, 6.12). */
struct collective_places_side {
    const int *counts;
    const int *displacements;
};

enum collective_places_number { COLLECTIVE_PLACES_SENT, COLLECTIVE_PLACES_RECEIVED, COLLECTIVE_PLACES_SIDES };

/* Which part of each block goes, and how far it is from block to block. */
struct collective_places_part {
    enum collective_places_number side;
    uint64_t stride_bytes;
    uint64_t length_bytes;
};

/* Can an int name all places? */
bool collective_places_fit(int blocks, uint64_t block_bytes);

/* Memory for the lists of so many blocks and pieces, to be freed. */
int *collective_places_new(int blocks, uint32_t pieces);

/* The lists of one side of a piece, which stay. */
struct collective_places_side collective_places_list(int *places, int blocks, uint32_t piece,
                                                     struct collective_places_part part);

#endif
