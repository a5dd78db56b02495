/* SPDX-License-Identifier: MIT */
#include "protect/reserve.h"

#include <stddef.h>

#include "base/pages.h"
#include "protect/kernel.h"
#include "protect/hold.h"

/* mremap wants 6 mappings below the limit (mm/mremap.c); a release between two
 * held neighbours, which share mappings at home and in transit, leaves 3 more. */
enum { MAPPINGS_AT_ONCE = 8, MAPPINGS_PER_HOLD = 4, PAIRS_AT_ONCE = MAPPINGS_AT_ONCE / 2 };
enum { PAIRS_MAX = (MAPPINGS_AT_ONCE + MAPPINGS_PER_HOLD * PROTECT_HOLDS_MAX) / 2 };

/* One piece of address space without access. Every second page of its first
 * 2 * `pairs` pages is readable, which makes two mappings a pair. */
static struct {
    uintptr_t space;
    uint32_t pairs;
} reserve;

static size_t space_bytes(void)
{
    return (2 * (size_t)PAIRS_MAX + 1) * base_page_bytes();
}

static bool space_find(void)
{
    if (reserve.space != 0)
        return true;
    void *mapped =
        (void *)syscall(SYS_mmap, NULL, space_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    if (mapped == MAP_FAILED)
        return false;
    reserve.space = (uintptr_t)mapped;
    return true;
}

static bool pair_set(uint32_t pair, int access)
{
    uintptr_t page = reserve.space + (2 * (uintptr_t)pair + 1) * base_page_bytes();
    return kernel_mprotect((struct range){page, page + base_page_bytes()}, access);
}

bool reserve_cover(uint32_t holds)
{
    uint32_t wanted = (MAPPINGS_AT_ONCE + MAPPINGS_PER_HOLD * holds) / 2;
    if (wanted <= reserve.pairs)
        return true;
    if (wanted > PAIRS_MAX || !space_find())
        return false;
    while (reserve.pairs < wanted && pair_set(reserve.pairs, PROT_READ))
        reserve.pairs++;
    return reserve.pairs == wanted;
}

/* A page that becomes like its neighbours again merges with them: this needs
 * nothing, and gives two. */
bool reserve_spend(void)
{
    uint32_t before = reserve.pairs;
    for (int i = 0; i < PAIRS_AT_ONCE && reserve.pairs > 0 && pair_set(reserve.pairs - 1, PROT_NONE); i++)
        reserve.pairs--;
    return reserve.pairs < before;
}

void reserve_stop(void)
{
    if (reserve.space != 0)
        syscall(SYS_munmap, reserve.space, space_bytes());
    reserve.space = 0;
    reserve.pairs = 0;
}
