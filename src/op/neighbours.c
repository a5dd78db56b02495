/* SPDX-License-Identifier: MIT */
#include "op/neighbours.h"

#include "engine/gate.h"
#include "libc/allocate.h"
#include "libc/blocks.h"
#include "libc/keep.h"
#include "libc/recycled.h"
#include "libc/signals.h"
#include "libc/thread_local.h"
#include "libc/threads.h"
#include "op/requests.h"
#include "protect/protect.h"

static enum reason neighbours_threads(void)
{
    if (!gate_is_open())
        return REASON_NONE;
    return gate_others_inside() == 0 ? REASON_NONE : REASON_OTHER_THREAD;
}

/* Other threads and signal handlers of the program may use a shared page at any
 * time, also in a system call of libc's own (a futex), which would fail, or while
 * their thread is inside MPI. */
static bool neighbours_are_busy(void)
{
    return (protect_system_calls_fail() && libc_threads_are_several()) || libc_signals_have_handlers();
}

/* Under MPI_THREAD_MULTIPLE another thread that touched the rest of a shared page
 * would wait for this op, and what ends the op may wait for that thread's next call. */
static bool neighbours_may_wait(void)
{
    return gate_is_open() && libc_threads_are_several();
}

/* Are the pages the buffer's alone? Beside a whole heap block that libc has mapped there is nothing to touch. */
static bool neighbours_are_none(struct range bytes, struct range pages)
{
    return (pages.low == bytes.low && pages.high == bytes.high) || libc_blocks_fill_pages(bytes);
}

static bool neighbours_requests(struct range bytes, struct range pages, bool has_gaps)
{
    if (has_gaps)
        return requests_touch(pages);
    struct range first = {pages.low, pages.low + base_page_bytes()};
    struct range last = {pages.high - base_page_bytes(), pages.high};
    bool is_first_shared = pages.low != bytes.low;
    bool is_last_shared = pages.high != bytes.high;
    return (is_first_shared && requests_touch(first)) || (is_last_shared && requests_touch(last));
}

/* May other heap blocks, MPI's among them, lie on the same pages? Not on those that a large block has to itself. A
 * small buffer in one may have been given by an allocator above malloc, MPI's own (MPI_Alloc_mem) among them. */
static bool neighbours_heap(struct range bytes)
{
    bool is_large = bytes.high - bytes.low >= LIBC_LARGE_BLOCK_BYTES;
    if (is_large && libc_blocks_contain(bytes))
        return false;
    /* Beyond the pages that such a block has to itself, wherever libc's heap is: not always where [heap] is (brk(2) may
     * fail), nor in arenas of one size (glibc.malloc.hugetlb). */
    if (!base_range_is_empty(libc_blocks_around(bytes)))
        return true;
    return !libc_allocator_is_known() || protect_memory_is_heap(bytes);
}

bool neighbours_are_heap(struct range bytes)
{
    return !neighbours_are_none(bytes, base_pages_of(bytes)) && neighbours_heap(bytes);
}

/* Of the block that the bytes begin with, or 0: the next such block gets pages of its own. */
static size_t neighbours_block_length(struct range bytes)
{
    struct range asked = libc_blocks_around(bytes);
    return asked.low == bytes.low ? asked.high - asked.low : 0;
}

bool neighbours_own_thread(struct range pages)
{
    return libc_threads_own_stack(pages) || libc_thread_local_touches(pages);
}

/* Threads first: one that is inside may leave a request behind at any moment; one that
 * enters from now on looks at the holds again (arming.h). */
enum reason neighbours_check_operations(struct range bytes, bool has_gaps)
{
    enum reason threads = neighbours_threads();
    if (threads != REASON_NONE)
        return threads;
    return neighbours_requests(bytes, base_pages_of(bytes), has_gaps) ? REASON_MEMORY_NEIGHBOURS : REASON_NONE;
}

enum reason neighbours_check(struct range bytes, bool has_gaps)
{
    struct range pages = base_pages_of(bytes);
    /* The buffer itself may be part of a window, which other processes read. */
    if (requests_are_unknown())
        return REASON_MEMORY_NEIGHBOURS;
    if (libc_keep_touches(pages))
        return REASON_MEMORY_NEIGHBOURS;
    if (neighbours_own_thread(pages))
        return REASON_MEMORY_STACK;
    if (!has_gaps && neighbours_are_none(bytes, pages))
        return REASON_NONE;
    libc_threads_look();
    if (neighbours_are_busy() || neighbours_may_wait())
        return REASON_MEMORY_NEIGHBOURS;
    if (neighbours_heap(bytes)) {
        libc_recycled_wish(neighbours_block_length(bytes));
        return REASON_MEMORY_NEIGHBOURS;
    }
    return neighbours_check_operations(bytes, has_gaps);
}
