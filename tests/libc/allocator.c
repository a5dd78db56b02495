/* SPDX-License-Identifier: MIT */
/* A program's own allocator: ends the process when it is given back what it has not given. Its functions call each
 * other by their names, as those of real ones do. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { POOL_BYTES = 64 << 20, FOREIGN = 99 };

struct head {
    uintptr_t self;
    size_t length_bytes;
};

static char pool[POOL_BYTES];
static size_t used_bytes;

__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t length_bytes)
{
    size_t step = alignment < 16 ? 16 : alignment;
    uintptr_t block = ((uintptr_t)pool + used_bytes + sizeof(struct head) + step - 1) / step * step;
    size_t end_bytes = block - (uintptr_t)pool + length_bytes;
    if (end_bytes > POOL_BYTES)
        return errno = ENOMEM, NULL;
    used_bytes = end_bytes;
    ((struct head *)block)[-1] = (struct head){block, length_bytes};
    return (void *)block;
}

static struct head *head_of(void *block)
{
    struct head *head = (struct head *)block - 1;
    int is_inside = (char *)block > pool && (char *)block < pool + POOL_BYTES;
    if (!is_inside || head->self != (uintptr_t)block)
        _exit(FOREIGN);
    return head;
}

__attribute__((visibility("default"))) void *malloc(size_t length_bytes)
{
    return memalign(16, length_bytes);
}

__attribute__((visibility("default"))) void free(void *block)
{
    if (block != NULL)
        head_of(block)->self = 0;
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size_bytes)
{
    void *block = malloc(count * size_bytes);
    return block == NULL ? NULL : memset(block, 0, count * size_bytes);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t length_bytes)
{
    void *moved = malloc(length_bytes);
    if (block == NULL || moved == NULL)
        return moved;
    size_t old_bytes = head_of(block)->length_bytes;
    memcpy(moved, block, old_bytes < length_bytes ? old_bytes : length_bytes);
    free(block);
    return moved;
}
