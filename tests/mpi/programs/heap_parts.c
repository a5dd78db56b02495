/* SPDX-License-Identifier: MIT */
/* Claim: parts of large heap blocks return early as whole ones do, whatever function the blocks came from: they share
 * their pages with the program's own data only.
 * defers: send receive
 * passes: nothing
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <malloc.h>

#include "check.h"

enum { LENGTH = 600000, PART = 150000, PART_AT = 70001, HUGE_LENGTH = 64 << 20, TIMES = 3 };
enum kind { MALLOC, CALLOC, REALLOC, REALLOCARRAY, POSIX_MEMALIGN, ALIGNED, MEMALIGN, VALLOC, RESIZED, HUGE, KINDS };

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

static void *block_make(enum kind kind)
{
    switch (kind) {
    case CALLOC:
        return calloc(LENGTH, 1);
    case REALLOC:
        return realloc(NULL, LENGTH);
    case REALLOCARRAY:
        return reallocarray(NULL, LENGTH, 1);
    case POSIX_MEMALIGN:
        return block_aligned();
    case ALIGNED:
        return aligned_alloc(64, LENGTH);
    case MEMALIGN:
        return memalign(64, LENGTH);
    case VALLOC:
        return valloc(LENGTH);
    case RESIZED:
        return block_resized();
    default:
        return malloc(kind == HUGE ? HUGE_LENGTH : LENGTH);
    }
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
    for (int i = 0; i < TIMES * KINDS; i++) {
        enum kind kind = (enum kind)(i % KINDS);
        unsigned char *block = block_make(kind);
        size_t offset = kind == HUGE ? 40000001 : PART_AT;
        part_exchange(block + offset, i);
        part_exchange(block + offset + PART + 100, i + TIMES * KINDS);
        free(block);
    }
    return check_end();
}
