/* SPDX-License-Identifier: MIT */
/* Claim: of a heap block that lives and was noted all bytes are found, of others none. */
#include "intercept/libc/blocks.h"

#include <pthread.h>

#include "../base/claim.h"

enum { THREADS = 4, ROUNDS = 20000, MANY = 20000 };

static const uintptr_t base = (uintptr_t)0x7f12 << 32;
static size_t page; /* written before there are threads */

static void note(uintptr_t begin, size_t length)
{
    libc_blocks_note((const void *)begin, length);
}

static size_t forget(uintptr_t begin)
{
    return libc_blocks_forget((const void *)begin);
}

static bool has(uintptr_t low, size_t length)
{
    return libc_blocks_contain((struct range){low, low + length});
}

static bool ends_by(uintptr_t low, size_t length)
{
    return libc_blocks_end_by((struct range){low, low + length});
}

static void check_edges(uintptr_t begin, size_t length)
{
    size_t whole = (length + page - 1) / page * page;
    note(begin, length);
    claim(has(begin, length) && has(begin, 1) && has(begin, whole) && has(begin + whole - 1, 1), "all of the block");
    claim(has(begin + length / 2, length / 3), "the middle of the block");
    claim(!has(begin - 1, 2) && !has(begin, whole + 1) && !has(begin + whole, 1), "what lies beside it");
    claim(ends_by(begin + 5, length - 5) && !ends_by(begin, length - 1), "its end");
    claim(forget(begin) == length && forget(begin) == 0, "it can be forgotten once");
    claim(!has(begin, 1), "it is forgotten");
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
    claim(!has(far, 1) && forget(far) == 0, "addresses of more than 48 bits");
    note(base, (size_t)1 << 46);
    claim(!has(base, 1) && forget(base) == 0, "a block that is too large");
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
        forget(base + i * 4 * page);
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
        claim(forget(own) == length && !has(own, 1), "forgotten by its thread");
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
    check_beyond();
    check_many();
    check_threads();
    return 0;
}
