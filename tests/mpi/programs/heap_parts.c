/* SPDX-License-Identifier: MIT */
/* Claim: parts of large heap blocks return early as whole ones do, whatever function the blocks came from: they share
 * their pages with the program's own data only.
 * arguments: malloc calloc realloc reallocarray posix_memalign aligned_alloc memalign valloc resized huge
 * defers: send receive */
#define _GNU_SOURCE
#include <malloc.h>

#include "check.h"

enum { LENGTH = 600000, PART = 150000, PART_AT = 70001, HUGE_LENGTH = 64 << 20 };

static void *block_resized(void)
{
    void *block = realloc(malloc(100), LENGTH / 2);
    block = realloc(block, 2 * LENGTH);
    return realloc(block, LENGTH);
}

static void *block_aligned(void)
{
    void *block = NULL;
    return posix_memalign(&block, 64, LENGTH) == 0 ? block : NULL;
}

static void *block_plain(const char *kind)
{
    if (strcmp(kind, "calloc") == 0)
        return calloc(LENGTH, 1);
    if (strcmp(kind, "realloc") == 0)
        return realloc(NULL, LENGTH);
    if (strcmp(kind, "reallocarray") == 0)
        return reallocarray(NULL, LENGTH, 1);
    if (strcmp(kind, "resized") == 0)
        return block_resized();
    return malloc(strcmp(kind, "huge") == 0 ? HUGE_LENGTH : LENGTH);
}

static unsigned char *block_make(const char *kind)
{
    if (strcmp(kind, "posix_memalign") == 0)
        return block_aligned();
    if (strcmp(kind, "aligned_alloc") == 0)
        return aligned_alloc(64, LENGTH);
    if (strcmp(kind, "memalign") == 0)
        return memalign(64, LENGTH);
    return strcmp(kind, "valloc") == 0 ? valloc(LENGTH) : block_plain(kind);
}

static void part_exchange(unsigned char *part, int seed)
{
    if (check_rank() == 1) {
        check_fill(part, PART, seed);
        check_delay();
        check_send(part, PART, 0, seed);
        return;
    }
    check_recv(part, PART, 1, seed);
    part[-1] = 1; /* the program goes on beside its message */
    part[PART] = 1;
    check(check_is_filled(part, PART, seed), "the part");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* from the heap, or nothing is said about it */
    for (int i = 0; i < 5; i++) {
        unsigned char *block = block_make(argv[1]);
        size_t offset = strcmp(argv[1], "huge") == 0 ? 40000001 : PART_AT;
        part_exchange(block + offset, i);
        part_exchange(block + offset + PART + 100, i + 10);
        free(block);
    }
    return check_end();
}
