/* SPDX-License-Identifier: MIT */
/* Byte ranges and the pages that they lie on. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [low, high): empty when low >= high. */
struct range {
    uintptr_t low;
    uintptr_t high;
};

/* Bytes of a page of this machine; known before any constructor runs. */
size_t base_page_bytes(void);

static inline bool base_range_is_empty(struct range range)
{
    return range.low >= range.high;
}

/* The whole pages that a byte range touches. An empty range stays empty. */
static inline struct range base_pages_of(struct range bytes)
{
    uintptr_t mask = base_page_bytes() - 1;
    if (base_range_is_empty(bytes))
        return (struct range){0, 0};
    return (struct range){bytes.low & ~mask, (bytes.high + mask) & ~mask};
}

/* The pages that a byte range fills. Empty where it fills none. */
static inline struct range base_pages_within(struct range bytes)
{
    uintptr_t mask = base_page_bytes() - 1;
    return (struct range){(bytes.low + mask) & ~mask, bytes.high & ~mask};
}

static inline bool base_ranges_overlap(struct range a, struct range b)
{
    return a.low < b.high && b.low < a.high;
}

static inline struct range base_range_of(const void *address, size_t length_bytes)
{
    uintptr_t low = (uintptr_t)address;
    uintptr_t high = low + length_bytes < low ? UINTPTR_MAX : low + length_bytes;
    return (struct range){low, high};
}

/* Whatever memory a program has: the kernel's addresses are above. */
static inline struct range base_range_of_all(void)
{
    return (struct range){0, UINTPTR_MAX / 2};
}

#endif
