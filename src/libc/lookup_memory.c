/* SPDX-License-Identifier: MIT */
#include "libc/lookup_memory.h"

#include <stdalign.h>
#include <string.h>

enum { ROOM_BYTES = 65536, ALIGNMENT_BYTES = alignof(max_align_t) };

static struct {
    alignas(max_align_t) unsigned char room[ROOM_BYTES];
    size_t used_bytes;
} memory;

void *libc_lookup_malloc(size_t length_bytes)
{
    if (length_bytes > ROOM_BYTES - memory.used_bytes)
        return NULL;
    void *block = memory.room + memory.used_bytes;
    size_t rest_bytes = ROOM_BYTES - memory.used_bytes - length_bytes;
    memory.used_bytes += length_bytes + rest_bytes % ALIGNMENT_BYTES; /* to the next block's beginning */
    return block;
}

/* What was never used is zero. */
void *libc_lookup_calloc(size_t count, size_t size_bytes)
{
    if (size_bytes != 0 && count > ROOM_BYTES / size_bytes)
        return NULL;
    return libc_lookup_malloc(count * size_bytes);
}

/* How long the old block is nobody knows: it ends before the new one. */
void *libc_lookup_realloc(void *block, size_t length_bytes)
{
    unsigned char *moved = libc_lookup_malloc(length_bytes);
    if (moved == NULL || block == NULL)
        return moved;
    size_t most_bytes = (size_t)(moved - (unsigned char *)block);
    memcpy(moved, block, length_bytes < most_bytes ? length_bytes : most_bytes);
    return moved;
}

void libc_lookup_free(void *block)
{
    (void)block;
}
