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

enum { TYPE_LAYOUT_CACHE_BITS = 3 };

/* Each thread its own: no lock on the path of every message. Here, once, and not in each ABI's copy of the entries:
 * every thread of the program, with however small a stack, carries it (tools/check_preload.py). */
extern _Thread_local struct type_layout type_layout_cache[1 << TYPE_LAYOUT_CACHE_BITS];

#endif
