/* SPDX-License-Identifier: MIT */
#include "op/busy.h"
#include "op/neighbours.h"

#include "base/pages.h"
#include "engine/gate.h"
#include "op/host.h"
#include "op/requests.h"

static enum reason neighbours_threads(void)
{
    if (!busy_is_shared())
        return REASON_NONE;
    return gate_others_inside() == 0 ? REASON_NONE : REASON_OTHER_THREAD;
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
    bool are_alone;
    /* The buffer itself may be part of a window, which other processes read. */
    if (requests_are_unknown())
        return REASON_MEMORY_NEIGHBOURS;
    enum reason reason = host.pages_check(bytes, has_gaps, &are_alone);
    if (reason != REASON_NONE || are_alone)
        return reason;
    return neighbours_check_operations(bytes, has_gaps);
}

enum reason neighbours_check(struct range bytes, bool has_gaps, bool may_hide_gaps)
{
    enum reason reason = neighbours_check_pages(bytes, has_gaps);
    if (reason != REASON_NONE || !may_hide_gaps)
        return reason;
    return neighbours_check_operations(bytes, true);
}
