/* SPDX-License-Identifier: MIT */
/* How libc's allocator lays out a block (glibc, malloc/malloc.c, "struct malloc_chunk"): two words before the block
 * stand the bytes before its chunk, and the chunk's length with three flags. The same since glibc 2.3, on all
 * processors with 64 bits. Only for blocks of that allocator. */
#ifndef LIBC_CHUNK_H
#define LIBC_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pages.h"

enum { CHUNK_FLAGS = 7, CHUNK_IS_MAPPED = 2, CHUNK_HEAD_BYTES = 2 * sizeof(size_t) };

static inline size_t chunk_length(const void *block)
{
    return ((const size_t *)block)[-1] & ~(size_t)CHUNK_FLAGS;
}

static inline bool chunk_is_mapped(const void *block)
{
    return ((const size_t *)block)[-1] & CHUNK_IS_MAPPED;
}

/* A chunk with a mapping of its own: all of it. Memory before the chunk is there where the block had to be aligned. */
static inline struct range chunk_mapping(const void *block)
{
    uintptr_t begin = (uintptr_t)block - CHUNK_HEAD_BYTES;
    return (struct range){begin - ((const size_t *)block)[-2], begin + chunk_length(block)};
}

/* A chunk among others: the length of the next one stands behind the last byte that the block may use. */
static inline struct range chunk_inside(const void *block)
{
    uintptr_t begin = (uintptr_t)block;
    return base_pages_within((struct range){begin, begin - CHUNK_HEAD_BYTES + chunk_length(block) + sizeof(size_t)});
}

/* The whole pages on which nobody but this block has data. */
static inline struct range chunk_pages(const void *block)
{
    return chunk_is_mapped(block) ? chunk_mapping(block) : chunk_inside(block);
}

#endif
