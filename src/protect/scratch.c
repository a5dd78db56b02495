/* SPDX-License-Identifier: MIT */
#include "protect/scratch.h"

#include <string.h>

#include "base/pages.h"
#include "protect/beside.h"
#include "protect/kernel.h"
#include "protect/transit.h"

enum { EDGES = 2 };

/* What of the bytes lies on the first page, and what on the last; empty where they fill it. */
struct edges {
    struct range bytes[EDGES];
};

static struct edges edges_of(struct range bytes)
{
    struct range inner = base_pages_within(bytes);
    return (struct edges){{{bytes.low, inner.low}, {inner.high, bytes.high}}};
}

static bool has_edge_on(const struct hold *hold, uintptr_t page)
{
    struct edges edges = edges_of(hold->bytes);
    struct range pages = {page, page + base_page_bytes()};
    return base_ranges_overlap(edges.bytes[0], pages) || base_ranges_overlap(edges.bytes[1], pages);
}

/* One message may end on the page where the next one begins. */
static bool is_shared(const struct hold *self, uintptr_t page)
{
    struct range all = base_range_of_all();
    struct hold_view view;
    for (struct hold *hold = hold_next(NULL, all, &view); hold != NULL; hold = hold_next(hold, all, &view))
        if (hold != self && view.kind == HOLD_COPY_ON_TOUCH && has_edge_on(hold, page))
            return true;
    return false;
}

static bool page_lay(const struct hold *hold, uintptr_t page)
{
    enum { FRESH = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE };
    if (is_shared(hold, page))
        return true;
    uintptr_t target = transit_address(TRANSIT_SEND, page);
    uintptr_t landed = (uintptr_t)syscall(SYS_mmap, target, base_page_bytes(), PROT_READ | PROT_WRITE, FRESH, -1, 0L);
    /* Before Linux 4.17 the place is a wish. */
    if (landed != target && landed != (uintptr_t)MAP_FAILED)
        syscall(SYS_munmap, landed, base_page_bytes());
    return landed == target;
}

static void page_remove(const struct hold *hold, uintptr_t page)
{
    if (!is_shared(hold, page))
        syscall(SYS_munmap, transit_address(TRANSIT_SEND, page), base_page_bytes());
}

static void edge_remove(const struct hold *hold, struct range edge)
{
    if (!base_range_is_empty(edge))
        page_remove(hold, base_pages_of(edge).low);
}

/* The program may not write what is being sent; beside it anything may happen, and the page may be held for a receive.
 * No tool's shadow knows of transit. */
__attribute__((no_sanitize("address", "thread"))) static bool edge_lay(const struct hold *hold, struct range edge)
{
    if (base_range_is_empty(edge))
        return true;
    if (!page_lay(hold, base_pages_of(edge).low))
        return false;
    memcpy((void *)transit_address(TRANSIT_SEND, edge.low), beside_find(edge), edge.high - edge.low);
    return true;
}

bool scratch_lay(const struct hold *hold)
{
    struct edges edges = edges_of(hold->bytes);
    if (!edge_lay(hold, edges.bytes[0]))
        return false;
    if (edge_lay(hold, edges.bytes[1]))
        return true;
    edge_remove(hold, edges.bytes[0]);
    return false;
}

void scratch_remove(const struct hold *hold)
{
    struct edges edges = edges_of(hold->bytes);
    edge_remove(hold, edges.bytes[0]);
    edge_remove(hold, edges.bytes[1]);
}
