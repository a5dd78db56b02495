/* SPDX-License-Identifier: MIT */
/* A table without locks, since free() may come at any moment, in a child of fork() too.
 *
 * Whoever asks has an address inside a block. So a block stands where its window leads to: a block of 2^c pages or
 * more, and fewer than 2^(c+1), begins in one of the windows of 2^(c+1) pages, and what lies inside it is in that
 * window or in the next. At most two such blocks begin in one window. */
#include "intercept/libc/blocks.h"

#include <stdatomic.h>

#include "base/hash.h"

/* 16384 blocks, of 3000 nearly all; 256 KiB of addresses, and of memory what was ever used. */
enum { SETS_BITS = 11, SETS = 1 << SETS_BITS, WAYS = 8, COUNT_BITS = 28, CLASS_BITS = 5 };

/* `pages`: the number of the block's first page, and below it how many there are; 0: free. One word, so that nobody
 * sees one block's beginning with another's length. */
struct block {
    _Atomic uint64_t pages;
    _Atomic uintptr_t end; /* of what was asked for */
};

static struct block blocks[SETS][WAYS];

/* Bit c: there has been a block of 2^c pages. Never cleared. */
static _Atomic uint32_t classes;

/* All accesses to `pages`, `end` and `classes` are relaxed. A block that is asked about lives: who asks has it from the
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

/* 0 for what does not fit into a word: addresses above 48 bits, a block of a TiB. */
static uint64_t pages_of(struct range range)
{
    uint64_t first = range.low / base_page_bytes();
    uint64_t count = (range.high - range.low) / base_page_bytes();
    bool is_fitting = count >> COUNT_BITS == 0 && first >> (64 - COUNT_BITS) == 0;
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
    return blocks[base_hash(key, SETS_BITS)];
}

void libc_blocks_note(const void *block, size_t length_bytes)
{
    struct range bytes = base_range_of(block, length_bytes);
    uint64_t pages = pages_of(base_pages_of(bytes));
    if (pages == 0)
        return;
    int class = class_of(pages);
    struct block *set = set_of(class, window_of(bytes.low, class));
    atomic_fetch_or_explicit(&classes, UINT32_C(1) << class, memory_order_relaxed);
    for (int i = 0; i < WAYS; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong_explicit(&set[i].pages, &none, pages, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_store_explicit(&set[i].end, bytes.high, memory_order_relaxed);
            return;
        }
    }
}

static struct block *set_find_begin(struct block *set, uintptr_t begin)
{
    for (int i = 0; i < WAYS; i++) {
        uint64_t pages = block_load(&set[i]);
        if (pages != 0 && range_of(pages).low == begin)
            return &set[i];
    }
    return NULL;
}

/* The lowest class in a set of classes, which it leaves. */
static int class_next(uint32_t *left)
{
    int class = __builtin_ctz(*left);
    *left &= *left - 1;
    return class;
}

static struct block *block_find_begin(uintptr_t begin)
{
    uint32_t left = atomic_load_explicit(&classes, memory_order_relaxed);
    struct block *found = NULL;
    while (found == NULL && left != 0) {
        int class = class_next(&left);
        found = set_find_begin(set_of(class, window_of(begin, class)), begin);
    }
    return found;
}

size_t libc_blocks_forget(const void *block)
{
    struct block *found = block_find_begin((uintptr_t)block);
    if (found == NULL)
        return 0;
    uintptr_t end = atomic_load_explicit(&found->end, memory_order_relaxed);
    atomic_store_explicit(&found->pages, 0, memory_order_relaxed);
    return end - (uintptr_t)block;
}

static bool block_contains(const struct block *block, struct range bytes)
{
    struct range range = range_of(block_load(block));
    return range.low <= bytes.low && bytes.high <= range.high;
}

static const struct block *set_find(const struct block *set, struct range bytes)
{
    for (int i = 0; i < WAYS; i++)
        if (block_contains(&set[i], bytes))
            return &set[i];
    return NULL;
}

static const struct block *block_find(struct range bytes)
{
    uint32_t left = atomic_load_explicit(&classes, memory_order_relaxed);
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

bool libc_blocks_end_by(struct range bytes)
{
    const struct block *block = block_find(bytes);
    if (block == NULL || range_of(block_load(block)).high != base_pages_of(bytes).high)
        return false;
    return atomic_load_explicit(&block->end, memory_order_relaxed) <= bytes.high;
}
