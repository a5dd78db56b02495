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
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pages.h"
#include "intercept/libc/blocks.h"
#include "intercept/libc/lookup_memory.h"
#include "intercept/libc/real.h"
#include "intercept/libc/use.h"

/* libc's own, under the name that nobody interposes: recognises libc's allocator. */
extern void *__libc_malloc(size_t length_bytes) __attribute__((weak));

/* Written by the constructor, before there are threads. */
static bool is_libc_allocator;

/* The large block that this thread got last. */
static _Thread_local void *newest_block;

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

enum { HUGE_BYTES = 2 << 20 };

/* From 4 MiB on a block begins on a huge page, so that whole ones fit into it
 * (protect/huge.h). That takes addresses, not memory; where even addresses are
 * short (RLIMIT_AS), a page boundary does. */
static void *block_new_aligned(size_t alignment_bytes, size_t length_bytes)
{
    void *block = NULL;
    if (length_bytes >= 2 * HUGE_BYTES)
        block = libc_real()->memalign(larger_of(alignment_bytes, HUGE_BYTES), length_bytes);
    return block != NULL ? block : libc_real()->memalign(alignment_bytes, length_bytes);
}

static void *block_new_at_once(size_t alignment_bytes, size_t length_bytes)
{
    size_t alignment = larger_of(alignment_bytes, base_page_bytes());
    newest_block = block_new_aligned(alignment, block_whole_pages(length_bytes));
    if (newest_block != NULL)
        libc_blocks_note(newest_block, length_bytes);
    return newest_block;
}

static bool is_room_lacking(size_t length_bytes)
{
    enum { PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    long probe = syscall(SYS_mmap, NULL, length_bytes, PROT_READ | PROT_WRITE, PRIVATE, -1, 0L);
    if (probe != -1)
        syscall(SYS_munmap, probe, length_bytes);
    return probe == -1;
}

/* Where addresses are limited libc must not fail first: it would then make one more arena,
 * 64 MiB of addresses that it keeps (glibc, malloc/arena.c, arena_get_retry). */
static void block_make_room(size_t length_bytes)
{
    int saved_errno = errno;
    if (protect_is_armed() && is_room_lacking(length_bytes + HUGE_BYTES))
        (void)libc_use_makes_room(ENOMEM);
    errno = saved_errno;
}

/* Was this block refused, and may it be had now? */
static bool is_room_made(const void *block)
{
    return block == NULL && libc_use_makes_room(errno);
}

static void *block_new_large(size_t alignment_bytes, size_t length_bytes)
{
    block_make_room(length_bytes);
    void *block = block_new_at_once(alignment_bytes, length_bytes);
    return is_room_made(block) ? block_new_at_once(alignment_bytes, length_bytes) : block;
}

void *libc_block_own(size_t length_bytes)
{
    return block_is_large(length_bytes) ? block_new_at_once(0, length_bytes) : libc_real()->malloc(length_bytes);
}

/* dlsym, looking up malloc for us, may allocate itself. */
static bool is_looking_up(void)
{
    (void)libc_real();
    return !libc_real_is_ready();
}

/* While something is armed. Apart, so that small blocks cost a test and a jump else. */
__attribute__((noinline, cold)) static void *block_new_small(size_t length_bytes)
{
    void *block = libc_real()->malloc(length_bytes);
    return is_room_made(block) ? libc_real()->malloc(length_bytes) : block;
}

void *libc_entry_malloc(size_t length_bytes) LIBC_ENTRY(malloc);
void *libc_entry_malloc(size_t length_bytes)
{
    if (__builtin_expect(!libc_real_is_ready(), 0) && is_looking_up())
        return libc_lookup_malloc(length_bytes);
    if (block_is_large(length_bytes))
        return block_new_large(0, length_bytes);
    if (__builtin_expect(protect_is_armed(), 0))
        return block_new_small(length_bytes);
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

/* As block_new_small(). */
__attribute__((noinline, cold)) static void *block_new_small_zero(size_t count, size_t size_bytes)
{
    void *block = libc_real()->calloc(count, size_bytes);
    return is_room_made(block) ? libc_real()->calloc(count, size_bytes) : block;
}

void *libc_entry_calloc(size_t count, size_t size_bytes) LIBC_ENTRY(calloc);
void *libc_entry_calloc(size_t count, size_t size_bytes)
{
    if (__builtin_expect(!libc_real_is_ready(), 0) && is_looking_up())
        return libc_lookup_calloc(count, size_bytes);
    if (block_is_large(libc_use_product(count, size_bytes)))
        return block_new_zero(count * size_bytes);
    if (__builtin_expect(protect_is_armed(), 0))
        return block_new_small_zero(count, size_bytes);
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

static void *block_resize_at_once(void *block, size_t length_bytes)
{
    void *resized = libc_real()->realloc(block, length_bytes);
    /* Null is also what freeing gives. */
    bool has_failed = resized == NULL && length_bytes != 0;
    return has_failed && libc_use_makes_room(errno) ? libc_real()->realloc(block, length_bytes) : resized;
}

static void *block_resized(void *block, size_t length_bytes)
{
    if (!block_owns_its_pages(block))
        return block_move_to_pages(block, length_bytes);
    libc_blocks_note(block, length_bytes);
    return block;
}

/* Forgotten first: another thread may get the old memory before realloc() returns. */
static void *block_resize(void *block, size_t length_bytes)
{
    bool is_large = block_is_large(length_bytes);
    if (is_large)
        block_make_room(length_bytes);
    size_t old_bytes = block_owns_its_pages(block) ? libc_blocks_forget(block) : 0;
    void *resized = block_resize_at_once(block, is_large ? block_whole_pages(length_bytes) : length_bytes);
    if (resized == NULL && old_bytes != 0 && length_bytes != 0)
        libc_blocks_note(block, old_bytes); /* it stays as it was */
    return resized != NULL && is_large ? block_resized(resized, length_bytes) : resized;
}

void *libc_entry_realloc(void *block, size_t length_bytes) LIBC_ENTRY(realloc);
void *libc_entry_realloc(void *block, size_t length_bytes)
{
    if (protect_is_armed())
        libc_use_block(block);
    if (block == NULL && block_is_large(length_bytes))
        return block_new_large(0, length_bytes);
    return block_resize(block, length_bytes);
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

static int block_place_small(void **block, size_t alignment_bytes, size_t length_bytes)
{
    int error = libc_real()->posix_memalign(block, alignment_bytes, length_bytes);
    return libc_use_makes_room(error) ? libc_real()->posix_memalign(block, alignment_bytes, length_bytes) : error;
}

int libc_entry_posix_memalign(void **block, size_t alignment_bytes, size_t length_bytes) LIBC_ENTRY(posix_memalign);
int libc_entry_posix_memalign(void **block, size_t alignment_bytes, size_t length_bytes)
{
    if (!block_is_large(length_bytes) || !alignment_is_valid(alignment_bytes) || alignment_bytes % sizeof(void *) != 0)
        return block_place_small(block, alignment_bytes, length_bytes);
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
    void *block = libc_real()->aligned_alloc(alignment_bytes, length_bytes);
    return is_room_made(block) ? libc_real()->aligned_alloc(alignment_bytes, length_bytes) : block;
}

void *libc_entry_memalign(size_t alignment_bytes, size_t length_bytes) LIBC_ENTRY(memalign);
void *libc_entry_memalign(size_t alignment_bytes, size_t length_bytes)
{
    if (block_is_large(length_bytes) && alignment_is_valid(alignment_bytes))
        return block_new_large(alignment_bytes, length_bytes);
    void *block = libc_real()->memalign(alignment_bytes, length_bytes);
    return is_room_made(block) ? libc_real()->memalign(alignment_bytes, length_bytes) : block;
}

void *libc_entry_valloc(size_t length_bytes) LIBC_ENTRY(valloc);
void *libc_entry_valloc(size_t length_bytes)
{
    if (block_is_large(length_bytes))
        return block_new_large(0, length_bytes);
    void *block = libc_real()->valloc(length_bytes);
    return is_room_made(block) ? libc_real()->valloc(length_bytes) : block;
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

static bool allocator_is_next(void)
{
    Dl_info used;
    Dl_info own;
    return __libc_malloc != NULL && dladdr((void *)libc_real()->malloc, &used) && dladdr((void *)__libc_malloc, &own) &&
           used.dli_fbase == own.dli_fbase;
}

/* Do the process's malloc, realloc and free come through here? A program with an allocator of its own stands before all
 * libraries. dlsym(RTLD_DEFAULT) would name the program, too, where it only takes malloc's address (its linkage table
 * stands for the function then). */
static bool allocator_is_reached(void)
{
    void *volatile block = malloc(LIBC_LARGE_BLOCK_BYTES);
    bool is_reached = block != NULL && block == newest_block;
    void *volatile resized = realloc(block, 2 * LIBC_LARGE_BLOCK_BYTES);
    struct range bytes = base_range_of(resized, 2 * LIBC_LARGE_BLOCK_BYTES);
    is_reached = is_reached && resized != NULL && libc_blocks_contain(bytes);
    free(resized == NULL ? block : resized);
    return is_reached && !libc_blocks_contain(bytes);
}

__attribute__((constructor(102))) static void allocator_recognise(void)
{
    is_libc_allocator = allocator_is_next();
    is_libc_allocator = is_libc_allocator && allocator_is_reached();
}
