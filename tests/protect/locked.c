/* SPDX-License-Identifier: MIT */
/* Claim: memory is known to be locked from mlock to munlock or munmap, page by page; when there is too much to
 * remember, all memory is, but for what was unlocked since. */
#include "protect/locked.h"

#include "../base/claim.h"

enum { MANY = 1000, PAGE = 4096 };

static const uintptr_t base = (uintptr_t)0x7f12 << 32;

static struct range pages(int first, int count)
{
    uintptr_t low = base + (uintptr_t)first * PAGE;
    return (struct range){low, low + (uintptr_t)count * PAGE};
}

static bool is_locked(int page)
{
    return locked_touches(pages(page, 1));
}

static void check_parts(void)
{
    locked_add((struct range){base + 10 * PAGE + 100, base + 20 * PAGE - 100});
    claim(is_locked(10) && is_locked(19) && !is_locked(9) && !is_locked(20), "the pages that are touched");
    claim(locked_touches(pages(0, 11)) && !locked_touches(pages(0, 10)), "ranges that overlap");
    locked_remove(pages(12, 3));
    claim(is_locked(11) && !is_locked(12) && !is_locked(14) && is_locked(15), "a hole");
    locked_add(pages(14, 4));
    locked_remove(pages(0, 16));
    claim(!is_locked(10) && !is_locked(15) && is_locked(16) && is_locked(19), "two that overlap");
    locked_remove(pages(16, 100));
    claim(locked_is_empty(), "all is unlocked");
}

static void check_many(void)
{
    for (int i = 0; i < MANY; i++)
        locked_add(pages(2 * i, 1));
    claim(is_locked(0) && is_locked(2 * MANY - 2) && is_locked(5 * MANY), "too many: all memory");
    locked_remove(pages(0, 10));
    claim(!is_locked(0) && !is_locked(9) && is_locked(10), "but for what is unlocked");
    locked_remove(base_range_of_all());
    claim(locked_is_empty() && !is_locked(10), "munlockall");
}

static void check_all(void)
{
    locked_add(base_range_of(NULL, SIZE_MAX));
    claim(is_locked(0) && locked_touches(pages(5, 100)), "mlockall");
    locked_remove(base_range_of(NULL, SIZE_MAX));
    claim(locked_is_empty(), "munlockall");
}

int main(void)
{
    check_parts();
    check_all();
    check_many();
    return 0;
}
