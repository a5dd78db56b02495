/* SPDX-License-Identifier: MIT */
#include "protect/beside.h"

#include <string.h>

#include "base/pages.h"
#include "protect/armed.h"
#include "protect/holds.h"
#include "protect/kernel.h"
#include "protect/protect.h"
#include "protect/table.h"
#include "protect/transit.h"

enum beside { BESIDE_NOTHING, BESIDE_RECEIVE, BESIDE_OVERLAPS };

/* What is sent and stays where it is everybody may read. */
static enum beside hold_compare(const struct hold *hold, enum hold_kind kind, struct range bytes)
{
    if (kind == HOLD_NO_WRITE)
        return BESIDE_NOTHING;
    bool is_apart = kind == HOLD_NO_ACCESS && !base_ranges_overlap(hold->bytes, bytes);
    return is_apart ? BESIDE_RECEIVE : BESIDE_OVERLAPS;
}

/* Under the lock. */
static enum beside beside_compare(struct range bytes)
{
    struct range pages = base_pages_of(bytes);
    enum beside worst = BESIDE_NOTHING;
    struct hold_view view;
    for (struct hold *hold = hold_next(NULL, pages, &view); hold != NULL; hold = hold_next(hold, pages, &view)) {
        enum beside found = hold_compare(hold, view.kind, bytes);
        worst = found > worst ? found : worst;
    }
    return worst;
}

bool protect_beside_is(struct range bytes)
{
    if (protect_armed_find(bytes, true) == 0 || protect_holds_in_place())
        return false;
    struct table_before before = table_enter();
    enum beside found = beside_compare(bytes);
    table_leave(before);
    return found == BESIDE_RECEIVE;
}

const void *beside_find(struct range bytes)
{
    struct hold_view view;
    bool is_away = hold_first_of(HOLDS_NO_ACCESS, base_pages_of(bytes), &view) != NULL;
    return (const void *)(is_away ? transit_address(TRANSIT_RECEIVE, bytes.low) : bytes.low);
}

/* By the kernel: signals are blocked, and a handler of the program's own may be what makes a page readable. */
static bool edge_copy(void *room, struct range edge)
{
    return base_range_is_empty(edge) || kernel_copy(room, (uintptr_t)beside_find(edge), edge.high - edge.low);
}

/* Its whole pages, behind what of the bytes lies on the first page; that may be all of them. */
static struct range inner_of(struct range bytes)
{
    struct range inner = base_pages_within(bytes);
    return inner.low > inner.high ? (struct range){bytes.high, bytes.high} : inner;
}

/* The pages between the first and the last are the bytes' alone: nobody releases them meanwhile. */
bool protect_beside_copy(void *room, uintptr_t bytes, size_t length_bytes)
{
    struct range all = {bytes, bytes + length_bytes};
    struct range inner = inner_of(all);
    char *copy = room;
    struct table_before before = table_enter();
    bool is_copied = beside_compare(all) != BESIDE_OVERLAPS && edge_copy(copy, (struct range){all.low, inner.low}) &&
                     edge_copy(copy + (inner.high - all.low), (struct range){inner.high, all.high});
    table_leave(before);
    if (is_copied)
        memcpy(copy + (inner.low - all.low), (const void *)inner.low, inner.high - inner.low);
    return is_copied;
}
