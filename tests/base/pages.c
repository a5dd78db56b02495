/* SPDX-License-Identifier: MIT */
/* Claim: ranges of bytes become the pages that they touch, at every edge of the address space. */
#include <unistd.h>

#include "base/pages.h"
#include "claim.h"

static bool is_same(struct range range, uintptr_t low, uintptr_t high)
{
    return range.low == low && range.high == high;
}

int main(void)
{
    uintptr_t page = base_page_bytes();
    claim(page == (uintptr_t)sysconf(_SC_PAGESIZE), "the page size is the system's");
    claim(is_same(base_pages_of((struct range){page, 2 * page}), page, 2 * page), "whole pages stay");
    claim(is_same(base_pages_of((struct range){page + 1, page + 2}), page, 2 * page), "one byte takes its page");
    claim(is_same(base_pages_of((struct range){2 * page - 1, 2 * page + 1}), page, 3 * page), "two bytes take two");
    claim(is_same(base_pages_of((struct range){page + 5, page + 5}), 0, 0), "nothing takes nothing");
    claim(is_same(base_pages_of(base_range_of(NULL, SIZE_MAX)), 0, UINTPTR_MAX & ~(page - 1)),
          "all pages but the last");
    claim(is_same(base_pages_of((struct range){1, UINTPTR_MAX - page}), 0, UINTPTR_MAX & ~(page - 1)), "the last edge");
    claim(base_range_is_empty(base_pages_within((struct range){UINTPTR_MAX - 9, UINTPTR_MAX})), "no page at the end");
    claim(base_ranges_overlap((struct range){1, 3}, (struct range){2, 4}), "ranges that share a byte overlap");
    claim(!base_ranges_overlap((struct range){1, 3}, (struct range){3, 4}), "neighbours do not");
    claim(is_same(base_range_of((void *)16, 4), 16, 20), "address and length");
    claim(base_range_of((void *)(UINTPTR_MAX - 3), 100).high == UINTPTR_MAX, "no wrap at the end of memory");
    return 0;
}
