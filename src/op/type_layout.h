/* SPDX-License-Identifier: MIT */
/* What is asked again and again about datatypes (mpi/datatypes.h), whatever the ABI of their handles. */
#ifndef OP_TYPE_LAYOUT_H
#define OP_TYPE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct type_layout {
    uint64_t handle;     /* of the datatype */
    uint32_t generation; /* of the cache when it was filled; 0: never */
    bool is_known;
    uint8_t gaps; /* enum datatype_gaps */
    int64_t size_bytes;
    int64_t extent_bytes;
    int64_t true_lower_bytes;
    int64_t true_extent_bytes;
};

/* Each thread has a cache of its own (thread.h): no lock on the path of every message. Once, and not in each ABI's copy
 * of the entries. */
enum { TYPE_LAYOUT_CACHE_BITS = 3 };

#endif
