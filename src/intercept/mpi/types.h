/* SPDX-License-Identifier: MIT */
/* Where the bytes of (buffer, count, datatype) lie. */
#ifndef INTERCEPT_MPI_TYPES_H
#define INTERCEPT_MPI_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/pages.h"

struct type_layout {
    MPI_Datatype datatype;
    uint32_t generation; /* of the cache when it was filled; 0: never */
    bool is_known;
    bool is_dense; /* count elements are count*size_bytes bytes without a gap */
    int64_t size_bytes;
    MPI_Aint extent_bytes;
    MPI_Aint true_lower_bytes;
    MPI_Aint true_extent_bytes;
};

/* From a small cache of the calling thread; asks MPI on a miss (inside the gate
 * when anything is pending). Valid until the thread's next call. */
const struct type_layout *types_layout(MPI_Datatype datatype);

/* A datatype was freed: its handle may come back with another layout. */
void types_forget(void);

/* All bytes between the first and the last that `count` elements touch. */
struct range types_span(const struct type_layout *layout, const void *buffer, MPI_Count count);

#endif
