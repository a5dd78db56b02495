/* SPDX-License-Identifier: MIT */
#include "op/neighbours.h"

#include "base/pages.h"
#include "engine/gate.h"
#include "op/host.h"
#include "op/requests.h"
#include "protect/protect.h"

static enum reason neighbours_threads(void)
{
    if (!gate_is_shared())
        return REASON_NONE;
    return gate_others_inside() == 0 ? REASON_NONE : REASON_OTHER_THREAD;
}

/* Other threads and signal handlers of the program may use a shared page at any
 * time, also in a system call of libc's own (a futex), which would fail, or while
 * their thread is inside MPI. */
static bool neighbours_are_busy(void)
{
    return (protect_system_calls_fail() && host.threads_are_several()) || host.has_handlers();
}

/* Under MPI_THREAD_MULTIPLE another thread that touched the rest of a shared page
 * would wait for this op, and what ends the op may wait for that thread's next call. */
static bool neighbours_may_wait(void)
{
    return gate_is_shared() && host.threads_are_several();
}

/* Are the pages the buffer's alone? Beside a whole heap block that libc has mapped there is nothing to touch. */
static bool neighbours_are_none(struct range bytes, struct range pages)
{
    return (pages.low == bytes.low && pages.high == bytes.high) || host.heap_fills_pages(bytes);
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

bool neighbours_are_heap(struct range bytes)
{
    return !neighbours_are_none(bytes, base_pages_of(bytes)) && host.heap_is_shared(bytes);
}

bool neighbours_own_thread(struct range pages)
{
    return host.thread_owns(pages);
}

/* Threads first: one that is inside may leave a request behind at any moment; one that
 * enters from now on looks at the holds again (arming.h). */
static enum reason neighbours_check_operations(struct range bytes, bool has_gaps)
{
    enum reason threads = neighbours_threads();
    if (threads != REASON_NONE)
        return threads;
    return neighbours_requests(bytes, base_pages_of(bytes), has_gaps) ? REASON_MEMORY_NEIGHBOURS : REASON_NONE;
}

static enum reason neighbours_check_pages(struct range bytes, bool has_gaps)
{
    struct range pages = base_pages_of(bytes);
    /* The buffer itself may be part of a window, which other processes read. */
    if (requests_are_unknown())
        return REASON_MEMORY_NEIGHBOURS;
    if (host.keeps(pages))
        return REASON_MEMORY_NEIGHBOURS;
    if (neighbours_own_thread(pages))
        return REASON_MEMORY_STACK;
    if (!has_gaps && neighbours_are_none(bytes, pages))
        return REASON_NONE;
    host.threads_look();
    if (neighbours_are_busy() || neighbours_may_wait())
        return REASON_MEMORY_NEIGHBOURS;
    if (host.heap_is_shared(bytes)) {
        host.heap_wish(bytes);
        return REASON_MEMORY_NEIGHBOURS;
    }
    return neighbours_check_operations(bytes, has_gaps);
}

enum reason neighbours_check(struct range bytes, bool has_gaps, bool may_hide_gaps)
{
    enum reason reason = neighbours_check_pages(bytes, has_gaps);
    if (reason != REASON_NONE || !may_hide_gaps)
        return reason;
    return neighbours_check_operations(bytes, true);
}
