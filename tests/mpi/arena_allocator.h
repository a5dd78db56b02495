/* SPDX-License-Identifier: MIT */
/* An allocator of the program's own, linked into it, which lays block behind block. Needs -fno-builtin.
 * Large blocks are never given again, unless arena_gives_again. */
#ifndef ARENA_ALLOCATOR_H
#define ARENA_ALLOCATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA_BYTES = 1 << 30, CLASSES = 48, KEPT_BYTES = 65536, LEAST_ALIGNMENT = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t next;
static uintptr_t again, again_end; /* the large block that was freed last, or what is left of it */
static void *freed[CLASSES];       /* lists of blocks of 2^i bytes */
static bool arena_gives_again;     /* large blocks that were freed */

static int class_of(size_t length)
{
    int class = 5;
    while (((size_t)1 << class) < length)
        class ++;
    return class;
}

/* Large blocks are as long as was asked. */
static size_t block_bytes(size_t length)
{
    return length >= KEPT_BYTES ? (length + 15) & ~(size_t)15 : (size_t)1 << class_of(length);
}

static void *take_new(size_t alignment, size_t length)
{
    if (next == 0)
        next = (uintptr_t)mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                               -1, 0);
    uintptr_t *from = length + alignment + sizeof(size_t) <= again_end - again ? &again : &next;
    uintptr_t block = (*from + sizeof(size_t) + alignment - 1) & ~(uintptr_t)(alignment - 1);
    ((size_t *)block)[-1] = length;
    *from = block + length;
    return (void *)block;
}

static void *take_freed(int class)
{
    void *block = freed[class];
    if (block)
        freed[class] = *(void **)block;
    return block;
}

static void *take(size_t alignment, size_t length)
{
    bool is_plain = length < KEPT_BYTES && alignment <= LEAST_ALIGNMENT;
    pthread_mutex_lock(&lock);
    void *block = is_plain ? take_freed(class_of(length)) : NULL;
    if (!block)
        block = take_new(alignment < LEAST_ALIGNMENT ? LEAST_ALIGNMENT : alignment, block_bytes(length));
    pthread_mutex_unlock(&lock);
    return block;
}

size_t malloc_usable_size(void *block)
{
    return block ? ((size_t *)block)[-1] : 0;
}

void *malloc(size_t length)
{
    return take(LEAST_ALIGNMENT, length);
}

void free(void *block)
{
    size_t length = malloc_usable_size(block);
    if (!block || (length >= KEPT_BYTES && !arena_gives_again))
        return;
    pthread_mutex_lock(&lock);
    if (length >= KEPT_BYTES) {
        again = (uintptr_t)block;
        again_end = again + length;
    } else {
        *(void **)block = freed[class_of(length)];
        freed[class_of(length)] = block;
    }
    pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t length)
{
    void *block = malloc(count * length);
    return memset(block, 0, count * length);
}

void *realloc(void *block, size_t length)
{
    if (block && malloc_usable_size(block) >= length)
        return block;
    void *moved = malloc(length);
    memcpy(moved, block, malloc_usable_size(block));
    free(block);
    return moved;
}

void *memalign(size_t alignment, size_t length)
{
    return take(alignment, length);
}

void *aligned_alloc(size_t alignment, size_t length)
{
    return take(alignment, length);
}

int posix_memalign(void **block, size_t alignment, size_t length)
{
    *block = take(alignment, length);
    return 0;
}

void *valloc(size_t length)
{
    return take(4096, length);
}

#endif
