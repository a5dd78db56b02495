/* SPDX-License-Identifier: MIT */
/* The pages that byte ranges lie on. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/range.h"

/* Bytes of a page of this machine; known before any constructor runs. */
static inline size_t base_page_bytes(void)
{
    return (size_t)getpagesize();
}

/* The page's edge at or behind an address: at most the last one, since behind the last page there is none. */
static inline uintptr_t base_pages_edge(uintptr_t address)
{
    uintptr_t mask = base_page_bytes() - 1;
    return (address > UINTPTR_MAX - mask ? address : address + mask) & ~mask;
}

/* The whole pages that a byte range touches. An empty range stays empty. */
static inline struct range base_pages_of(struct range bytes)
{
    uintptr_t mask = base_page_bytes() - 1;
    if (base_range_is_empty(bytes))
        return (struct range){0, 0};
    return (struct range){bytes.low & ~mask, base_pages_edge(bytes.high)};
}

/* The pages that a byte range fills. Empty where it fills none. */
static inline struct range base_pages_within(struct range bytes)
{
    uintptr_t mask = base_page_bytes() - 1;
    return (struct range){base_pages_edge(bytes.low), bytes.high & ~mask};
}

#endif
