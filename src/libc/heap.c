/* SPDX-License-Identifier: MIT */
#include "libc/heap.h"

#include "libc/allocate.h"
#include "libc/blocks.h"
#include "libc/recycled.h"
#include "protect/memory.h"

/* Beyond the pages that a large block has to itself, wherever libc's heap is: not always where [heap] is (brk(2) may
 * fail), nor in arenas of one size (glibc.malloc.hugetlb). */
static bool heap_may_hold(struct range bytes)
{
    return !base_range_is_empty(libc_blocks_around(bytes)) || libc_allocate_is_other(bytes) ||
           !libc_allocate_is_known() || memory_is_heap(bytes);
}

/* Not on those that a large block has to itself. A small buffer in one may have been given by an allocator above
 * malloc, MPI's own (MPI_Alloc_mem) among them. */
bool libc_heap_is_shared(struct range bytes)
{
    bool is_large = bytes.high - bytes.low >= LIBC_LARGE_BLOCK_BYTES;
    return !(is_large && libc_blocks_contain(bytes)) && heap_may_hold(bytes);
}

/* Its free() need not come through here, so that MPI may get the memory while the message is under way. A mapping of
 * the program's own looks like such an allocator's. */
bool libc_heap_is_foreign(struct range bytes)
{
    return !libc_allocate_is_known() && !memory_is_variable(bytes);
}

/* What libc gave to MPI is known as libc's. */
void libc_heap_note_given(struct range bytes)
{
    if (!heap_may_hold(bytes))
        libc_allocate_note_other(bytes);
}

/* Only of a block that the bytes begin with. */
void libc_heap_wish(struct range bytes)
{
    struct range asked = libc_blocks_around(bytes);
    libc_recycled_wish(asked.low == bytes.low ? asked.high - asked.low : 0);
}
