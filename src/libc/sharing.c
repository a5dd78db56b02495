/* SPDX-License-Identifier: MIT */
#include "libc/sharing.h"

#include "base/pages.h"
#include "libc/blocks.h"
#include "libc/heap.h"
#include "libc/keep.h"
#include "libc/signals.h"
#include "libc/stacks.h"
#include "libc/threads.h"
#include "op/busy.h"
#include "protect/protect.h"

/* Beside a whole heap block that libc has mapped there is nothing to touch. */
bool libc_sharing_is_filled(struct range bytes)
{
    struct range pages = base_pages_of(bytes);
    return (pages.low == bytes.low && pages.high == bytes.high) || libc_blocks_fill_pages(bytes);
}

/* Nor will anybody else get their memory while it is held. */
static bool bytes_are_alone(struct range bytes)
{
    return libc_sharing_is_filled(bytes) && !libc_heap_is_foreign(bytes);
}

/* Another thread may use a shared page at any time, also in a system call of libc's own (a futex), which would fail.
 * Under MPI_THREAD_MULTIPLE it would wait for this op, and what ends the op may wait for that thread's next call. */
static bool threads_are_hindered(void)
{
    libc_threads_look();
    return libc_threads_are_several() && (protect_held_calls_fail() || busy_is_shared());
}

enum reason libc_sharing_check(struct range bytes, bool has_gaps, bool *is_alone)
{
    struct range pages = base_pages_of(bytes);
    *is_alone = false;
    if (libc_keep_touches(pages))
        return REASON_MEMORY_NEIGHBOURS;
    if (libc_stacks_contain(pages))
        return REASON_MEMORY_STACK;
    *is_alone = !has_gaps && bytes_are_alone(bytes);
    if (*is_alone)
        return REASON_NONE;
    /* A signal handler may use a shared page at any time, too, and while its thread is inside MPI. */
    if (threads_are_hindered() || libc_signals_have_handlers())
        return REASON_MEMORY_NEIGHBOURS;
    if (!libc_heap_is_shared(bytes))
        return REASON_NONE;
    libc_heap_wish(bytes);
    return REASON_MEMORY_NEIGHBOURS;
}

bool libc_sharing_is_heap(struct range bytes)
{
    return !bytes_are_alone(bytes) && libc_heap_is_shared(bytes);
}
