/* SPDX-License-Identifier: MIT */
/* Claim: of a heap block that lives and was noted all bytes are found, of others none. */
#include "base/pages.h"
#include "libc/blocks.h"

#include <pthread.h>

#include "../base/claim.h"

enum { THREADS = 4, ROUNDS = 20000, MANY = 20000 };

static const uintptr_t base = (uintptr_t)0x7f12 << 32;
static size_t page; /* written before there are threads */

static struct range pages_of(uintptr_t begin, size_t length)
{
    return base_pages_of((struct range){begin, begin + length});
}

/* A block that begins on a page. */
static void note(uintptr_t begin, size_t length)
{
    libc_blocks_note(pages_of(begin, length), (struct range){begin, begin + length});
}

static size_t forget(uintptr_t begin, size_t length)
{
    struct range bytes = libc_blocks_forget(pages_of(begin, length));
    return bytes.high - bytes.low;
}

static bool has(uintptr_t low, size_t length)
{
    return libc_blocks_contain((struct range){low, low + length});
}

static bool fills_pages(uintptr_t low, size_t length)
{
    return libc_blocks_fill_pages((struct range){low, low + length});
}

static void check_edges(uintptr_t begin, size_t length)
{
    size_t whole = (length + page - 1) / page * page;
    note(begin, length);
    claim(has(begin, length) && has(begin, 1) && has(begin, whole) && has(begin + whole - 1, 1), "all of the block");
    claim(has(begin + length / 2, length / 3), "the middle of the block");
    claim(!has(begin - 1, 2) && !has(begin, whole + 1) && !has(begin + whole, 1), "what lies beside it");
    claim(fills_pages(begin, length) && !fills_pages(begin + 1, length - 1), "its beginning");
    claim(length % page == 0 || !fills_pages(begin, length - 1), "its end");
    claim(forget(begin, length) == length && forget(begin, length) == 0, "it can be forgotten once");
    claim(!has(begin, 1), "it is forgotten");
}

/* libc's header stands before a block that has a mapping of its own, and data of others where it has none. */
static void check_offset(void)
{
    struct range pages = {base, base + 20 * page};
    struct range asked = {base + 16, base + 19 * page + 50};
    libc_blocks_note(pages, asked);
    claim(libc_blocks_fill_pages(asked) && libc_blocks_contain(asked), "the whole block");
    claim(!fills_pages(base + 17, 19 * page), "a part of it");
    claim(libc_blocks_around(asked).low == asked.low, "the block is found by its bytes");
    libc_blocks_forget(pages);
    libc_blocks_note(pages, (struct range){base - 100, base + 20 * page + 100});
    claim(!has(base - 100, 5 * page) && has(base, 5 * page), "only on pages of its own");
    claim(libc_blocks_around((struct range){base - 100, base + 3 * page}).low == base - 100,
          "found by its inner pages");
    libc_blocks_forget(pages);
}

/* Wherever in a window a block of whatever size begins. */
static void check_sizes(void)
{
    for (size_t length = page; length < (size_t)1 << 38; length = length * 3 / 2 + 77)
        for (uintptr_t shift = 0; shift < 9; shift++)
            check_edges((base + shift * (length / 4)) / page * page, length);
}

static void check_beyond(void)
{
    uintptr_t far = (uintptr_t)1 << 56;
    note(far, 2 * page);
    claim(!has(far, 1) && forget(far, 2 * page) == 0, "addresses of more than 48 bits");
    note(base, (size_t)1 << 46);
    claim(!has(base, 1) && forget(base, (size_t)1 << 46) == 0, "a block that is too large");
}

/* Some find no place; none is found that is not there. */
static void check_many(void)
{
    int found = 0;
    for (uintptr_t i = 0; i < MANY; i++)
        note(base + i * 4 * page, 2 * page);
    for (uintptr_t i = 0; i < MANY; i++)
        found += has(base + i * 4 * page + page, 10);
    claim(found > MANY / 2, "most of many blocks");
    for (uintptr_t i = 0; i < MANY; i++) {
        claim(!has(base + (i * 4 + 2) * page, 1), "nothing between blocks");
        forget(base + i * 4 * page, 2 * page);
        claim(!has(base + i * 4 * page, 1), "nothing that was forgotten");
    }
}

static void *thread_turns(void *number)
{
    uintptr_t own = base + (uintptr_t)number * 64 * page;
    for (size_t i = 0; i < ROUNDS; i++) {
        size_t length = page * (1 + i % 64);
        note(own, length);
        claim(has(own + length - 1, 1), "the thread's own block");
        claim(forget(own, length) == length && !has(own, 1), "forgotten by its thread");
    }
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_turns, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    page = base_page_bytes();
    check_sizes();
    check_offset();
    check_beyond();
    check_many();
    check_threads();
    return 0;
}
