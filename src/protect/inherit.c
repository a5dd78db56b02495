/* SPDX-License-Identifier: MIT */
/* A forked child: one thread, nothing is locked, relaxed does. */
#include "base/pages.h"
#include "protect/backend.h"
#include "protect/kernel.h"
#include "protect/locked.h"
#include "protect/protect.h"
#include "protect/table.h"
#include "protect/touched.h"
#include "protect/transit.h"

/* The page of the first or last byte, where it has other bytes, too: the program's, which
 * came along in transit. The parent may have brought it home already. */
static void edge_inherit(struct range edge)
{
    if (!protect_holds_in_place())
        transit_fetch(TRANSIT_RECEIVE, edge);
    if (protect_sets_rights() && !base_range_is_empty(edge))
        table.backend->access_open(edge);
}

/* Nobody will bring the data: the pages that are the message's alone stay closed. */
static bool hold_lose(struct hold *hold, struct range pages)
{
    struct range inner = base_pages_within(hold->bytes);
    if (base_range_is_empty(inner))
        inner = (struct range){pages.high, pages.high};
    edge_inherit((struct range){pages.low, inner.low});
    edge_inherit((struct range){inner.high, pages.high});
    if (base_range_is_empty(inner))
        return false;
    kernel_mprotect(inner, PROT_NONE);
    atomic_store_explicit(&hold->low, inner.low, memory_order_relaxed);
    atomic_store_explicit(&hold->high, inner.high, memory_order_relaxed);
    atomic_store_explicit(&hold->kind, HOLD_LOST, memory_order_relaxed);
    atomic_fetch_add_explicit(&hold->word, 2, memory_order_relaxed); /* a handler's child may go back to sleep on it */
    return true;
}

/* A hold of the parent's, however far it was with releasing it: what was sent can be used,
 * what was being received is lost. True when it is. */
static bool hold_inherit(struct hold *hold, const struct hold_view *view)
{
    if (view->kind == HOLD_LOST || (view->kind == HOLD_NO_ACCESS && hold_lose(hold, view->pages)))
        return true;
    if (view->kind == HOLD_COPY_ON_TOUCH)
        touched_inherit(hold, view->pages);
    if (view->kind == HOLD_NO_WRITE && protect_sets_rights())
        table.backend->write_open(view->pages);
    atomic_fetch_add_explicit(&hold->word, 1, memory_order_relaxed);
    return false;
}

/* How many are lost. */
static uint32_t holds_inherit(void)
{
    struct range all = base_range_of_all();
    struct hold_view view;
    uint32_t lost_count = 0;
    for (struct hold *hold = hold_next(NULL, all, &view); hold != NULL; hold = hold_next(hold, all, &view))
        lost_count += hold_inherit(hold, &view);
    return lost_count;
}

/* The descriptors speak of the parent's memory. */
void protect_inherit(void)
{
    uint32_t lost_count = holds_inherit();
    protect_stop();
    backend_signal.stop(); /* a child of such a child has it already */
    if (lost_count != 0)
        backend_signal.start(); /* for its handler, which tells */
    table_forked_child();
    touched_forked_child();
    locked_forked_child();
}
