/* SPDX-License-Identifier: MIT */
/* A table without locks, since free() may come at any moment, in a child of fork() too.
 *
 * Whoever asks has an address inside a block. So a block stands where its window leads to: a block of 2^c pages or
 * more, and fewer than 2^(c+1), begins in one of the windows of 2^(c+1) pages, and what lies inside it is in that
 * window or in the next. At most two such blocks begin in one window. */
#include "libc/blocks.h"

#include <stdatomic.h>

#include "base/hash.h"
#include "base/pages.h"

/* 16384 blocks, of 3000 nearly all; 256 KiB of addresses, and of memory what was ever used. */
enum { SETS_BITS = 11, SETS = 1 << SETS_BITS, WAYS = 8, COUNT_BITS = 28, CLASS_BITS = 5 };

/* `pages`: the number of the block's first page, and below it how many there are; 0: free. One word, so that nobody
 * sees one block's beginning with another's length. */
struct block {
    _Atomic uint64_t pages;
    _Atomic uintptr_t low; /* of what was asked for */
    _Atomic uintptr_t high;
};

/* classes: bit c: there has been a block of 2^c pages. Never cleared. */
static struct {
    struct block sets[SETS][WAYS];
    _Atomic uint32_t classes;
} blocks;

/* All accesses to a block and to `classes` are relaxed. A block that is asked about lives: who asks has it from the
 * thread that noted it, in an order of the program's own. Other entries do not contain its bytes, old ones neither:
 * each was removed before its memory was given back, and who got that memory next got it through libc's lock, or the
 * kernel's, hence later. */
static uint64_t block_load(const struct block *block)
{
    return atomic_load_explicit(&block->pages, memory_order_relaxed);
}

static uint64_t count_of(uint64_t pages)
{
    return pages & ((UINT64_C(1) << COUNT_BITS) - 1);
}

static struct range range_of(uint64_t pages)
{
    uintptr_t low = (uintptr_t)(pages >> COUNT_BITS) * base_page_bytes();
    return (struct range){low, low + (uintptr_t)count_of(pages) * base_page_bytes()};
}

/* 0 for no page, and for what does not fit into a word: addresses above 48 bits, a block of a TiB. */
static uint64_t pages_of(struct range range)
{
    uint64_t first = range.low / base_page_bytes();
    uint64_t count = (range.high - range.low) / base_page_bytes();
    bool is_fitting = count != 0 && count >> COUNT_BITS == 0 && first >> (64 - COUNT_BITS) == 0;
    return is_fitting ? first << COUNT_BITS | count : 0;
}

static int class_of(uint64_t pages)
{
    return 63 - __builtin_clzll(count_of(pages));
}

static uint64_t window_of(uintptr_t address, int class)
{
    return (uint64_t)(address / base_page_bytes()) >> (class + 1);
}

/* Hashed twice: once leaves blocks a constant distance apart in few sets. */
static struct block *set_of(int class, uint64_t window)
{
    uint64_t key = base_hash(window << CLASS_BITS | (uint64_t) class, 48);
    return blocks.sets[base_hash(key, SETS_BITS)];
}

static void class_note(int class)
{
    uint32_t bit = UINT32_C(1) << class;
    if ((atomic_load_explicit(&blocks.classes, memory_order_relaxed) & bit) == 0)
        atomic_fetch_or_explicit(&blocks.classes, bit, memory_order_relaxed);
}

static bool block_claim(struct block *block, uint64_t pages)
{
    uint64_t none = 0;
    return block_load(block) == 0 && atomic_compare_exchange_strong_explicit(
                                         &block->pages, &none, pages, memory_order_relaxed, memory_order_relaxed);
}

static struct block *set_claim(struct block *set, uint64_t pages)
{
    for (int i = 0; i < WAYS; i++)
        if (block_claim(&set[i], pages))
            return &set[i];
    return NULL;
}

void libc_blocks_note(struct range range, struct range bytes)
{
    uint64_t pages = pages_of(range);
    if (pages == 0)
        return;
    int class = class_of(pages);
    class_note(class);
    struct block *block = set_claim(set_of(class, window_of(range.low, class)), pages);
    if (block == NULL)
        return;
    atomic_store_explicit(&block->low, bytes.low, memory_order_relaxed);
    atomic_store_explicit(&block->high, bytes.high, memory_order_relaxed);
}

static struct range block_bytes(const struct block *block)
{
    return (struct range){atomic_load_explicit(&block->low, memory_order_relaxed),
                          atomic_load_explicit(&block->high, memory_order_relaxed)};
}

struct range libc_blocks_forget(struct range range)
{
    uint64_t pages = pages_of(range);
    if (pages == 0)
        return (struct range){0, 0};
    int class = class_of(pages);
    struct block *set = set_of(class, window_of(range.low, class));
    for (int i = 0; i < WAYS; i++) {
        if (block_load(&set[i]) != pages)
            continue;
        struct range bytes = block_bytes(&set[i]);
        atomic_store_explicit(&set[i].pages, 0, memory_order_relaxed);
        return bytes;
    }
    return (struct range){0, 0};
}

static bool block_contains(const struct block *block, struct range bytes)
{
    uint64_t pages = block_load(block);
    return pages != 0 && base_range_covers(range_of(pages), bytes);
}

static const struct block *set_find(const struct block *set, struct range bytes)
{
    for (int i = 0; i < WAYS; i++)
        if (block_contains(&set[i], bytes))
            return &set[i];
    return NULL;
}

/* The lowest class in a set of classes, which it leaves. */
static int class_next(uint32_t *left)
{
    int class = __builtin_ctz(*left);
    *left &= *left - 1;
    return class;
}

static const struct block *block_find(struct range bytes)
{
    uint32_t left = atomic_load_explicit(&blocks.classes, memory_order_relaxed);
    const struct block *found = NULL;
    while (found == NULL && left != 0) {
        int class = class_next(&left);
        uint64_t window = window_of(bytes.low, class);
        found = set_find(set_of(class, window), bytes);
        if (found == NULL)
            found = set_find(set_of(class, window - 1), bytes);
    }
    return found;
}

bool libc_blocks_contain(struct range bytes)
{
    return block_find(bytes) != NULL;
}

bool libc_blocks_fill_pages(struct range bytes)
{
    const struct block *block = block_find(bytes);
    if (block == NULL)
        return false;
    struct range pages = base_pages_of(bytes);
    struct range asked = block_bytes(block);
    bool is_first_full = pages.low == bytes.low || bytes.low <= asked.low;
    bool is_last_full = pages.high == bytes.high || bytes.high >= asked.high;
    return is_first_full && is_last_full;
}

struct range libc_blocks_around(struct range bytes)
{
    struct range inner = base_pages_within(bytes);
    const struct block *block = base_range_is_empty(inner) ? NULL : block_find(inner);
    return block == NULL ? (struct range){0, 0} : block_bytes(block);
}
