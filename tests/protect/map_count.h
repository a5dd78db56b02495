/* SPDX-License-Identifier: MIT */
/* A program that uses up its mappings (vm.max_map_count). */
#ifndef MAP_COUNT_H
#define MAP_COUNT_H

#include <sys/mman.h>

#include "hold_test.h"

enum { PAGE = 4096, MAP_COUNT_MOST = 200000, MAP_COUNT_MORE = 1000 };

/* 0: not known. */
static inline long mappings_limit(void)
{
    long limit = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    bool is_read = file != NULL && fscanf(file, "%ld", &limit) == 1;
    if (file != NULL)
        fclose(file);
    return is_read ? limit : 0;
}

/* Every second page gets other rights, until the kernel has no mapping left to give. */
static inline void mappings_use_up(char *space, size_t pages)
{
    for (size_t i = 1; i < pages; i += 2)
        if (mprotect(space + i * PAGE, PAGE, PROT_READ) != 0)
            return;
    check(false, "the space was too small to use up all mappings");
}

static inline char *space_map(size_t pages)
{
    char *space = mmap(NULL, pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(space != MAP_FAILED, "mmap");
    return space;
}

/* The pages of a space that is large enough; ends the test as skipped where the limit is too high to be reached. */
static inline size_t space_pages(void)
{
    long limit = mappings_limit();
    if (limit != 0 && limit <= MAP_COUNT_MOST)
        return (size_t)limit + MAP_COUNT_MORE;
    printf("skipped: vm.max_map_count is %ld\n", limit);
    exit(EXIT_SKIPPED);
}

#endif
