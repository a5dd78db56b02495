/* SPDX-License-Identifier: MIT */
/* malloc and its kin. Small blocks go straight on. A large one is asked for on a
 * page boundary and rounded up to whole pages: libc's header then lies on the
 * page before, the next block on the page after. It costs at most a page a block.
 *
 * Without this, a message in a heap block would share its first and last page
 * with whatever malloc put beside it, MPI's own data included; seen: Open MPI's
 * free lists beside a 70,000-byte receive buffer, and the engine waiting for
 * itself. */
#include "intercept/libc/allocate.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/pages.h"
#include "intercept/libc/real.h"
#include "intercept/libc/use.h"

/* libc's own, under the name that nobody interposes: recognises libc's allocator,
 * and serves the blocks that dlsym asks for while it looks up malloc itself. */
extern void *__libc_malloc(size_t length_bytes) __attribute__((weak));
extern void *__libc_calloc(size_t count, size_t size_bytes) __attribute__((weak));

/* Written once by the constructor, before there are threads. */
static bool is_libc_allocator;

/* The large block that this thread got last. */
static _Thread_local void *newest_block;

/* Where the program's part of large blocks ends: addresses, each at its page's place. Whoever
 * gets a block writes; a younger block takes an older one's place. A block that is freed stays, until another one is
 * made of its page. */
enum { ENDS_MAX = 1024 };
static _Atomic uintptr_t ends[ENDS_MAX];

__attribute__((constructor(102))) static void allocator_recognise(void)
{
    Dl_info used;
    Dl_info own;
    is_libc_allocator = __libc_malloc != NULL && dladdr((void *)libc_real()->malloc, &used) &&
                        dladdr((void *)__libc_malloc, &own) && used.dli_fbase == own.dli_fbase;
}

bool libc_large_blocks_own_pages(void)
{
    return is_libc_allocator;
}

static bool block_is_large(size_t length_bytes)
{
    return length_bytes >= LIBC_LARGE_BLOCK_BYTES && length_bytes <= PTRDIFF_MAX - base_page_bytes() &&
           is_libc_allocator;
}

static size_t block_whole_pages(size_t length_bytes)
{
    return (length_bytes + base_page_bytes() - 1) & ~(base_page_bytes() - 1);
}

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* From 4 MiB on a block begins on a huge page, so that whole ones fit into it
 * (protect/huge.h). That takes addresses, not memory; where even addresses are
 * short (RLIMIT_AS), a page boundary does. */
static void *block_new_aligned(size_t alignment_bytes, size_t length_bytes)
{
    enum { HUGE_BYTES = 2 << 20 };
    void *block = NULL;
    if (length_bytes >= 2 * HUGE_BYTES)
        block = libc_real()->memalign(larger_of(alignment_bytes, HUGE_BYTES), length_bytes);
    return block != NULL ? block : libc_real()->memalign(alignment_bytes, length_bytes);
}

static _Atomic uintptr_t *end_place(uintptr_t address)
{
    return &ends[address / base_page_bytes() % ENDS_MAX];
}

static bool is_on_pages(uintptr_t address, struct range pages)
{
    return pages.low <= address && address < pages.high;
}

/* relaxed: who uses a block has it from the thread that made it, in an order of the program's own. */
static void block_note_end(const void *block, size_t length_bytes)
{
    struct range bytes = base_range_of(block, length_bytes);
    struct range pages = base_pages_of(bytes);
    size_t page_count = (pages.high - pages.low) / base_page_bytes();
    for (size_t i = 0; i < page_count && i < ENDS_MAX; i++) {
        _Atomic uintptr_t *place = end_place(pages.low + i * base_page_bytes());
        if (is_on_pages(atomic_load_explicit(place, memory_order_relaxed), pages))
            atomic_store_explicit(place, 0, memory_order_relaxed);
    }
    if (bytes.high != pages.high)
        atomic_store_explicit(end_place(bytes.high), bytes.high, memory_order_relaxed);
}

bool libc_large_block_ends_by(uintptr_t address)
{
    uintptr_t end = atomic_load_explicit(end_place(address), memory_order_relaxed);
    return end / base_page_bytes() == address / base_page_bytes() && end <= address;
}

static void *block_new_large(size_t alignment_bytes, size_t length_bytes)
{
    size_t alignment = larger_of(alignment_bytes, base_page_bytes());
    newest_block = block_new_aligned(alignment, block_whole_pages(length_bytes));
    if (newest_block != NULL)
        block_note_end(newest_block, length_bytes);
    return newest_block;
}

/* dlsym, looking up malloc for us, may allocate itself. */
static bool is_looking_up(void)
{
    (void)libc_real();
    return !libc_real_is_ready();
}

void *libc_entry_malloc(size_t length_bytes) LIBC_ENTRY(malloc);
void *libc_entry_malloc(size_t length_bytes)
{
    if (__builtin_expect(!libc_real_is_ready(), 0) && is_looking_up())
        return __libc_malloc(length_bytes);
    if (block_is_large(length_bytes))
        return block_new_large(0, length_bytes);
    return libc_real_functions.malloc(length_bytes);
}

/* A block that has a mapping of its own is zero already: bit 1 of the size word
 * before it says so (glibc, malloc.c, IS_MMAPPED; its calloc asks the same). */
static bool block_is_fresh(const void *block)
{
    enum { IS_MMAPPED = 2 };
    return ((const size_t *)block)[-1] & IS_MMAPPED;
}

static void *block_new_zero(size_t length_bytes)
{
    char *block = block_new_large(0, length_bytes);
    /* MALLOC_PERTURB_ (mallopt(3)) fills fresh blocks too, all with one byte. */
    if (block != NULL && (!block_is_fresh(block) || block[0] != 0))
        memset(block, 0, length_bytes);
    return block;
}

void *libc_entry_calloc(size_t count, size_t size_bytes) LIBC_ENTRY(calloc);
void *libc_entry_calloc(size_t count, size_t size_bytes)
{
    if (__builtin_expect(!libc_real_is_ready(), 0) && is_looking_up())
        return __libc_calloc(count, size_bytes);
    if (block_is_large(libc_use_product(count, size_bytes)))
        return block_new_zero(count * size_bytes);
    return libc_real_functions.calloc(count, size_bytes);
}

static bool block_owns_its_pages(const void *block)
{
    return ((uintptr_t)block & (base_page_bytes() - 1)) == 0;
}

/* The block that realloc gave does not start on a page: it was small before, or
 * was moved inside the heap. */
static void *block_move_to_pages(void *block, size_t length_bytes)
{
    void *moved = block_new_large(0, length_bytes);
    if (moved == NULL)
        return block; /* still a good block, only one that shares its pages */
    memcpy(moved, block, length_bytes);
    libc_real()->free(block);
    return moved;
}

static void *block_resize_large(void *block, size_t length_bytes)
{
    void *resized = libc_real()->realloc(block, block_whole_pages(length_bytes));
    if (resized == NULL)
        return NULL;
    if (!block_owns_its_pages(resized))
        return block_move_to_pages(resized, length_bytes);
    block_note_end(resized, length_bytes);
    return resized;
}

void *libc_entry_realloc(void *block, size_t length_bytes) LIBC_ENTRY(realloc);
void *libc_entry_realloc(void *block, size_t length_bytes)
{
    if (protect_is_armed())
        libc_use_block(block);
    if (block_is_large(length_bytes))
        return block == NULL ? block_new_large(0, length_bytes) : block_resize_large(block, length_bytes);
    return libc_real()->realloc(block, length_bytes);
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

static bool alignment_is_valid(size_t alignment_bytes)
{
    return alignment_bytes != 0 && (alignment_bytes & (alignment_bytes - 1)) == 0;
}

int libc_entry_posix_memalign(void **block, size_t alignment_bytes, size_t length_bytes) LIBC_ENTRY(posix_memalign);
int libc_entry_posix_memalign(void **block, size_t alignment_bytes, size_t length_bytes)
{
    if (!block_is_large(length_bytes) || !alignment_is_valid(alignment_bytes) || alignment_bytes % sizeof(void *) != 0)
        return libc_real()->posix_memalign(block, alignment_bytes, length_bytes);
    int saved_errno = errno;
    void *made = block_new_large(alignment_bytes, length_bytes);
    errno = saved_errno; /* posix_memalign(3) leaves it alone */
    if (made == NULL)
        return ENOMEM;
    *block = made;
    return 0;
}

void *libc_entry_aligned_alloc(size_t alignment_bytes, size_t length_bytes) LIBC_ENTRY(aligned_alloc);
void *libc_entry_aligned_alloc(size_t alignment_bytes, size_t length_bytes)
{
    if (block_is_large(length_bytes) && alignment_is_valid(alignment_bytes))
        return block_new_large(alignment_bytes, length_bytes);
    return libc_real()->aligned_alloc(alignment_bytes, length_bytes);
}

void *libc_entry_memalign(size_t alignment_bytes, size_t length_bytes) LIBC_ENTRY(memalign);
void *libc_entry_memalign(size_t alignment_bytes, size_t length_bytes)
{
    if (block_is_large(length_bytes) && alignment_is_valid(alignment_bytes))
        return block_new_large(alignment_bytes, length_bytes);
    return libc_real()->memalign(alignment_bytes, length_bytes);
}

void *libc_entry_valloc(size_t length_bytes) LIBC_ENTRY(valloc);
void *libc_entry_valloc(size_t length_bytes)
{
    return block_is_large(length_bytes) ? block_new_large(0, length_bytes) : libc_real()->valloc(length_bytes);
}

/* NumPy wishes huge pages for a new array of 4 MiB and more, from the second page
 * on (_core/src/multiarray/alloc.c, indicate_hugepages: its offset is a whole page
 * where the block begins on one). Taken literally, that makes two mappings of every
 * such array, and none could be held. */
static bool is_rest_of_newest_block(const void *address)
{
    return newest_block != NULL && (uintptr_t)address == (uintptr_t)newest_block + base_page_bytes();
}

static bool block_wish_huge_pages(size_t length_bytes)
{
    return libc_real()->madvise(newest_block, length_bytes + base_page_bytes(), MADV_HUGEPAGE) == 0;
}

int libc_entry_madvise(void *address, size_t length_bytes, int advice) LIBC_ENTRY(madvise);
int libc_entry_madvise(void *address, size_t length_bytes, int advice)
{
    if (protect_is_armed())
        libc_use_writes(address, length_bytes);
    if (advice == MADV_HUGEPAGE && is_rest_of_newest_block(address) && block_wish_huge_pages(length_bytes))
        return 0;
    return libc_real()->madvise(address, length_bytes, advice);
}
