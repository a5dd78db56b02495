/* SPDX-License-Identifier: MIT */
/* malloc and its kin go straight on to libc. Of a large block its pages are noted (blocks.h). While messages are under
 * way, which take addresses, a program whose addresses are limited gets those that it would have without them. */
#include "libc/allocate.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/options.h"
#include "base/pages.h"
#include "libc/blocks.h"
#include "libc/chunk.h"
#include "libc/real.h"
#include "libc/recycled.h"
#include "libc/threads.h"
#include "libc/use.h"

/* libc's own, under the name that nobody interposes: recognises libc's allocator. */
extern void *__libc_malloc(size_t length_bytes) __attribute__((weak));

/* Without MPI no block is remembered: the table would take memory that nobody needs. is_wanted: since MPI's library is
 * found; is_followed: and the blocks are libc's. Relaxed, since a block that is not remembered is one of which nothing
 * is known. answer: of libc_allocate_is_known(). relaxed: two threads that ask at a time get the same one. other_low,
 * other_high: around all that libc_allocate_note_other() was told of. relaxed: who asks has got such bytes after that.
 */
enum allocator_answer { NOT_ASKED, IS_KNOWN, IS_OTHER };
static struct {
    bool is_libcs; /* written by the constructor, before there are threads */
    _Atomic bool is_wanted;
    _Atomic bool is_followed;
    _Atomic enum allocator_answer answer;
    _Atomic uintptr_t other_low;
    _Atomic uintptr_t other_high;
} allocator = {.other_low = UINTPTR_MAX};

static inline bool blocks_are_followed(void)
{
    return atomic_load_explicit(&allocator.is_followed, memory_order_relaxed);
}

static bool block_is_large(size_t length_bytes)
{
    return length_bytes >= LIBC_LARGE_BLOCK_BYTES;
}

/* Out of line: small blocks cost a test. */
__attribute__((noinline)) static void *block_note_large(void *block, size_t length_bytes)
{
    if (block == NULL || !blocks_are_followed())
        return block;
    if (chunk_is_mapped(block))
        libc_threads_own.newest_mapped = block;
    libc_blocks_note(chunk_pages(block), base_range_of(block, length_bytes));
    return block;
}

static inline void *block_note(void *block, size_t length_bytes)
{
    return __builtin_expect(block_is_large(length_bytes), 0) ? block_note_large(block, length_bytes) : block;
}

/* Was this block refused, and may it be had now? */
static bool is_room_made(const void *block)
{
    return block == NULL && (libc_recycled_clear() || libc_use_makes_room(errno));
}

/* Apart, as all that most calls do without: then these save no registers. */
__attribute__((noinline, cold)) static void *block_new_beside_holds(size_t length_bytes)
{
    libc_use_grows(length_bytes);
    void *block = LIBC_REAL(malloc)(length_bytes);
    return is_room_made(block) ? LIBC_REAL(malloc)(length_bytes) : block;
}

static void *block_new_plain(size_t length_bytes)
{
    LIBC_REAL_TYPE(malloc) real = LIBC_REAL_FOUND(malloc);
    if (__builtin_expect(protect_armed_is_any() || real == NULL, 0))
        return block_new_beside_holds(length_bytes);
    return real(length_bytes);
}

__attribute__((noinline)) static void *block_new_large(size_t length_bytes)
{
    void *block = libc_recycled_take(length_bytes);
    if (block == NULL)
        block = block_new_plain(length_bytes);
    if (block == NULL && libc_recycled_clear())
        block = block_new_plain(length_bytes);
    return block_note_large(block, length_bytes);
}

void *libc_entry_malloc(size_t length_bytes) LIBC_ENTRY(malloc);
void *libc_entry_malloc(size_t length_bytes)
{
    LIBC_REAL_TYPE(malloc) real = LIBC_REAL_FOUND(malloc);
    if (__builtin_expect(block_is_large(length_bytes), 0))
        return block_new_large(length_bytes);
    if (__builtin_expect(protect_armed_is_any() || real == NULL, 0))
        return block_new_beside_holds(length_bytes);
    return real(length_bytes);
}

__attribute__((noinline, cold)) static void *block_new_zero_beside_holds(size_t count, size_t size_bytes)
{
    libc_use_grows(libc_use_product(count, size_bytes));
    void *block = LIBC_REAL(calloc)(count, size_bytes);
    return is_room_made(block) ? LIBC_REAL(calloc)(count, size_bytes) : block;
}

__attribute__((noinline)) static void *block_new_zero(size_t count, size_t size_bytes)
{
    void *block = __builtin_expect(protect_armed_is_any(), 0) ? block_new_zero_beside_holds(count, size_bytes)
                                                              : LIBC_REAL(calloc)(count, size_bytes);
    if (__builtin_expect(block == NULL, 0) && libc_recycled_clear())
        block = LIBC_REAL(calloc)(count, size_bytes);
    return block_note(block, libc_use_product(count, size_bytes));
}

void *libc_entry_calloc(size_t count, size_t size_bytes) LIBC_ENTRY(calloc);
void *libc_entry_calloc(size_t count, size_t size_bytes)
{
    LIBC_REAL_TYPE(calloc) real = LIBC_REAL_FOUND(calloc);
    size_t length_bytes;
    bool is_small = !__builtin_mul_overflow(count, size_bytes, &length_bytes) && !block_is_large(length_bytes);
    if (__builtin_expect(!is_small || protect_armed_is_any() || real == NULL, 0))
        return block_new_zero(count, size_bytes);
    return real(count, size_bytes);
}

static struct range block_forget(const void *block)
{
    return libc_blocks_forget(chunk_pages(block));
}

/* The next thread to get the memory notes it anew. */
__attribute__((noinline)) static bool block_is_kept(void *block)
{
    struct range bytes = block_forget(block);
    return libc_recycled_give(block, bytes.high - bytes.low);
}

static inline bool block_may_be_noted(const void *block)
{
    return block != NULL && blocks_are_followed() && block_is_large(chunk_length(block));
}

__attribute__((noinline)) static void block_end(void *block)
{
    if (protect_armed_is_any())
        libc_use_block(block);
    if (!block_may_be_noted(block) || !block_is_kept(block))
        LIBC_REAL(free)(block);
}

void libc_entry_free(void *block) LIBC_ENTRY(free);
void libc_entry_free(void *block)
{
    LIBC_REAL_TYPE(free) real = LIBC_REAL_FOUND(free);
    if (__builtin_expect(protect_armed_is_any() || block_may_be_noted(block) || real == NULL, 0))
        block_end(block);
    else
        real(block);
}

static void *block_resize_at_once(void *block, size_t length_bytes)
{
    void *resized = LIBC_REAL(realloc)(block, length_bytes);
    /* Null is also what freeing gives. */
    bool has_failed = resized == NULL && length_bytes != 0;
    return has_failed && libc_use_makes_room(errno) ? LIBC_REAL(realloc)(block, length_bytes) : resized;
}

/* Forgotten first: another thread may get the old memory before realloc() returns. */
static void *block_resize_noted(void *block, size_t length_bytes)
{
    struct range old = {0, 0};
    if (block_may_be_noted(block)) {
        old = block_forget(block);
        libc_recycled_leave(block, old.high - old.low);
    }
    void *resized = block_resize_at_once(block, length_bytes);
    if (resized == NULL && length_bytes != 0 && !base_range_is_empty(old))
        block_note(block, old.high - old.low); /* it stays as it was */
    return block_note(resized, length_bytes);
}

__attribute__((noinline)) static void *block_resize(void *block, size_t length_bytes)
{
    if (protect_armed_is_any()) {
        libc_use_block(block);
        libc_use_grows(length_bytes);
    }
    return block_resize_noted(block, length_bytes);
}

void *libc_entry_realloc(void *block, size_t length_bytes) LIBC_ENTRY(realloc);
void *libc_entry_realloc(void *block, size_t length_bytes)
{
    LIBC_REAL_TYPE(realloc) real = LIBC_REAL_FOUND(realloc);
    bool is_small = !block_is_large(length_bytes) && !block_may_be_noted(block);
    if (__builtin_expect(!is_small || protect_armed_is_any() || real == NULL, 0))
        return block_resize(block, length_bytes);
    return real(block, length_bytes);
}

void *libc_entry_reallocarray(void *block, size_t count, size_t size_bytes) LIBC_ENTRY(reallocarray);
void *libc_entry_reallocarray(void *block, size_t count, size_t size_bytes)
{
    if (size_bytes != 0 && count > SIZE_MAX / size_bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return libc_entry_realloc(block, count * size_bytes);
}

static int block_place(void **block, size_t alignment_bytes, size_t length_bytes)
{
    int error = LIBC_REAL(posix_memalign)(block, alignment_bytes, length_bytes);
    return libc_use_makes_room(error) ? LIBC_REAL(posix_memalign)(block, alignment_bytes, length_bytes) : error;
}

static void block_make_room_beside_holds(size_t length_bytes)
{
    if (__builtin_expect(protect_armed_is_any(), 0))
        libc_use_grows(length_bytes);
}

int libc_entry_posix_memalign(void **block, size_t alignment_bytes, size_t length_bytes) LIBC_ENTRY(posix_memalign);
int libc_entry_posix_memalign(void **block, size_t alignment_bytes, size_t length_bytes)
{
    block_make_room_beside_holds(length_bytes);
    int error = block_place(block, alignment_bytes, length_bytes);
    if (error == 0)
        block_note(*block, length_bytes);
    return error;
}

void *libc_allocate_aligned(size_t alignment_bytes, size_t length_bytes, void *(*real)(size_t, size_t))
{
    block_make_room_beside_holds(length_bytes);
    void *block = real(alignment_bytes, length_bytes);
    if (is_room_made(block))
        block = real(alignment_bytes, length_bytes);
    return block_note(block, length_bytes);
}

void *libc_entry_valloc(size_t length_bytes) LIBC_ENTRY(valloc);
void *libc_entry_valloc(size_t length_bytes)
{
    block_make_room_beside_holds(length_bytes);
    void *block = LIBC_REAL(valloc)(length_bytes);
    if (is_room_made(block))
        block = LIBC_REAL(valloc)(length_bytes);
    return block_note(block, length_bytes);
}

/* NumPy wishes huge pages for a new array of 4 MiB and more, from the second page
 * on (_core/src/multiarray/alloc.c, indicate_hugepages). Taken literally, that makes two mappings of every
 * such array, and none could be held. */
static bool is_rest_of_newest_block(const void *address)
{
    uintptr_t page_bytes = base_page_bytes();
    uintptr_t second_page = ((uintptr_t)libc_threads_own.newest_mapped & ~(page_bytes - 1)) + page_bytes;
    return libc_threads_own.newest_mapped != NULL && (uintptr_t)address == second_page;
}

static bool block_wish_huge_pages(void *address, size_t length_bytes)
{
    size_t page_bytes = base_page_bytes();
    return LIBC_REAL(madvise)((char *)address - page_bytes, length_bytes + page_bytes, MADV_HUGEPAGE) == 0;
}

int libc_entry_madvise(void *address, size_t length_bytes, int advice) LIBC_ENTRY(madvise);
int libc_entry_madvise(void *address, size_t length_bytes, int advice)
{
    if (protect_armed_is_any())
        libc_use_writes(address, length_bytes);
    if (advice == MADV_HUGEPAGE && is_rest_of_newest_block(address) && block_wish_huge_pages(address, length_bytes))
        return 0;
    return LIBC_REAL(madvise)(address, length_bytes, advice);
}

/* MPI's library may be found by another library's constructor, before our own has run. */
static void blocks_follow(void)
{
    bool is_wanted = atomic_load_explicit(&allocator.is_wanted, memory_order_relaxed);
    atomic_store_explicit(&allocator.is_followed, is_wanted && allocator.is_libcs, memory_order_relaxed);
}

void libc_allocate_follow(void)
{
    atomic_store_explicit(&allocator.is_wanted, true, memory_order_relaxed);
    blocks_follow();
}

/* The same function under both names: nobody's malloc stands behind ours but libc's. */
__attribute__((constructor(102))) static void allocator_recognise(void)
{
    allocator.is_libcs = !options_are_off() && (void *)LIBC_REAL(malloc) == (void *)__libc_malloc;
    blocks_follow();
}

/* A program with an allocator of its own stands before all libraries. dlsym(RTLD_DEFAULT) would name the program, too,
 * where it only takes malloc's address (its linkage table stands for the function then). Below the length from which on
 * libc maps blocks: giving back a mapped one would raise that length (M_MMAP_THRESHOLD in mallopt(3)). */
static bool allocator_is_reached(void)
{
    enum { RESIZED_BYTES = LIBC_LARGE_BLOCK_BYTES * 5 / 4 };
    void *volatile block = malloc(LIBC_LARGE_BLOCK_BYTES);
    bool is_reached = libc_blocks_contain(base_pages_within(base_range_of(block, LIBC_LARGE_BLOCK_BYTES)));
    void *volatile resized = realloc(block, RESIZED_BYTES);
    struct range pages = base_pages_within(base_range_of(resized, RESIZED_BYTES));
    is_reached = is_reached && resized != NULL && libc_blocks_contain(pages);
    free(resized == NULL ? block : resized);
    return is_reached && !libc_blocks_contain(pages);
}

bool libc_allocate_is_known(void)
{
    enum allocator_answer known = atomic_load_explicit(&allocator.answer, memory_order_relaxed);
    if (known == NOT_ASKED) {
        known = allocator.is_libcs && allocator_is_reached() ? IS_KNOWN : IS_OTHER;
        atomic_store_explicit(&allocator.answer, known, memory_order_relaxed);
    }
    return known == IS_KNOWN;
}

void libc_allocate_note_other(struct range bytes)
{
    uintptr_t low = atomic_load_explicit(&allocator.other_low, memory_order_relaxed);
    uintptr_t high = atomic_load_explicit(&allocator.other_high, memory_order_relaxed);
    while (bytes.low < low && !atomic_compare_exchange_weak_explicit(&allocator.other_low, &low, bytes.low,
                                                                     memory_order_relaxed, memory_order_relaxed))
        continue;
    while (bytes.high > high && !atomic_compare_exchange_weak_explicit(&allocator.other_high, &high, bytes.high,
                                                                       memory_order_relaxed, memory_order_relaxed))
        continue;
}

bool libc_allocate_is_other(struct range bytes)
{
    return bytes.low < atomic_load_explicit(&allocator.other_high, memory_order_relaxed) &&
           bytes.high > atomic_load_explicit(&allocator.other_low, memory_order_relaxed);
}
