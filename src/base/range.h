/* SPDX-License-Identifier: MIT */
/* Byte ranges. */
#ifndef BASE_RANGE_H
#define BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [low, high): empty when low >= high. */
struct range {
    uintptr_t low;
    uintptr_t high;
};

static inline bool base_range_is_empty(struct range range)
{
    return range.low >= range.high;
}

static inline bool base_ranges_overlap(struct range a, struct range b)
{
    return a.low < b.high && b.low < a.high;
}

static inline bool base_range_has(struct range range, uintptr_t address)
{
    return range.low <= address && address < range.high;
}

/* All of `part`. */
static inline bool base_range_covers(struct range range, struct range part)
{
    return range.low <= part.low && part.high <= range.high;
}

/* From where the first of both begins to where the last one ends. */
static inline struct range base_range_around(struct range a, struct range b)
{
    return (struct range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
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
