/* SPDX-License-Identifier: MIT */
#include "protect/touched.h"

#include <string.h>

#include "base/pages.h"
#include "protect/backend.h"
#include "protect/table.h"
#include "protect/transit.h"

/* COPY_FIRST_BYTES: a touch costs two thread switches, about as much as copying so many.
 * Whoever touches on where a copy ends gets twice as many. */
enum { COPY_FIRST_BYTES = 64 << 10, COPY_MOST_BYTES = 1 << 20, COPIED_MAX = 16 };

/* Of each hold, by its place in the table: the whole pages that the program has got copies
 * of, and how much may still be copied. */
struct touched {
    uint32_t count;
    struct range copied[COPIED_MAX];
    size_t left_bytes;
};

/* holds: armed ones of this kind; written under the lock, read by anybody. */
static struct {
    struct touched table[PROTECT_HOLDS_MAX];
    _Atomic uint32_t holds;
} copying;

bool touched_is_any(void)
{
    /* relaxed: a thread knows of the holds that it has armed itself */
    return atomic_load_explicit(&copying.holds, memory_order_relaxed) != 0;
}

static struct touched *touched_of(const struct hold *hold)
{
    return &copying.table[hold - holds.table];
}

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t length_of(struct range range)
{
    return range.high - range.low;
}

size_t touched_most(size_t length_bytes)
{
    enum { LEAST_BYTES = 64 << 10, SHARE = 4 };
    return length_bytes / SHARE > LEAST_BYTES ? length_bytes / SHARE : LEAST_BYTES;
}

void touched_begin(const struct hold *hold)
{
    struct touched *touched = touched_of(hold);
    touched->count = 0;
    touched->left_bytes = touched_most(length_of(hold->bytes));
    atomic_fetch_add_explicit(&copying.holds, 1, memory_order_relaxed);
}

static struct range *copied_at(struct touched *touched, uintptr_t address)
{
    for (uint32_t i = 0; i < touched->count; i++)
        if (base_range_has(touched->copied[i], address))
            return &touched->copied[i];
    return NULL;
}

/* Where the next copied range after `page` begins, at most `limit`. */
static uintptr_t uncopied_until(const struct touched *touched, uintptr_t page, uintptr_t limit)
{
    for (uint32_t i = 0; i < touched->count; i++)
        if (touched->copied[i].low > page && touched->copied[i].low < limit)
            limit = touched->copied[i].low;
    return limit;
}

/* The first pages at or after `page` that have not been copied; empty at the end. */
static struct range uncopied_from(struct touched *touched, uintptr_t page, uintptr_t end)
{
    for (struct range *copied = copied_at(touched, page); copied != NULL; copied = copied_at(touched, page))
        page = copied->high;
    return (struct range){page, uncopied_until(touched, page, end)};
}

/* What to copy for a touch of `page`, to be added to `*before` if that ends there; may be empty. */
static struct range chunk_at(const struct touched *touched, const struct range *before, uintptr_t page, uintptr_t end)
{
    size_t wish_bytes = before == NULL ? COPY_FIRST_BYTES : smaller_of(length_of(*before), COPY_MOST_BYTES);
    size_t free_bytes = uncopied_until(touched, page, end) - page;
    size_t length_bytes = smaller_of(smaller_of(free_bytes, wish_bytes), touched->left_bytes);
    return (struct range){page, page + (length_bytes & ~(base_page_bytes() - 1))};
}

/* The range that ends where the chunk begins, or a new one; NULL when there are too many. */
static struct range *copied_take(struct touched *touched, struct range *before, uintptr_t page)
{
    if (before != NULL)
        return before;
    if (touched->count >= COPIED_MAX)
        return NULL;
    struct range *fresh = &touched->copied[touched->count++];
    *fresh = (struct range){page, page};
    return fresh;
}

static bool chunk_copy(struct touched *touched, struct range *copied, struct range chunk)
{
    size_t done_bytes = table.backend->page_place(chunk, transit_address(TRANSIT_SEND, chunk.low));
    copied->high = chunk.low + done_bytes;
    touched->left_bytes -= smaller_of(done_bytes, touched->left_bytes);
    return done_bytes != 0;
}

static bool page_copy(struct touched *touched, struct range pages, uintptr_t page)
{
    struct range *before = copied_at(touched, page - 1);
    struct range chunk = chunk_at(touched, before, page, pages.high);
    if (base_range_is_empty(chunk))
        return false;
    struct range *copied = copied_take(touched, before, page);
    return copied != NULL && chunk_copy(touched, copied, chunk);
}

static bool hold_serve(const struct hold *hold, struct range pages, uintptr_t page)
{
    struct touched *touched = touched_of(hold);
    if (copied_at(touched, page) == NULL)
        return page_copy(touched, pages, page);
    table.backend->wake((struct range){page, page + base_page_bytes()}); /* two threads, or a chunk that came by */
    return true;
}

/* No other kind of hold has pages of such a one. */
bool touched_serve(uintptr_t address)
{
    struct hold_view view;
    struct hold *hold = hold_first_of(HOLDS_COPY_ON_TOUCH, (struct range){address, address + 1}, &view);
    if (hold == NULL || table.forking_count != 0)
        return hold != NULL;
    return hold_serve(hold, view.pages, address & ~(uintptr_t)(base_page_bytes() - 1));
}

void touched_let_again(void)
{
    struct range all = base_range_of_all();
    struct hold_view view;
    for (struct hold *hold = hold_next(NULL, all, &view); hold != NULL; hold = hold_next(hold, all, &view))
        if (view.kind == HOLD_COPY_ON_TOUCH)
            table.backend->wake(view.pages);
}

/* Both ends are plain memory now; no tool's shadow knows of the second one. */
__attribute__((no_sanitize("address", "thread"))) void touched_collect(const struct hold *hold)
{
    struct touched *touched = touched_of(hold);
    for (uint32_t i = 0; i < touched->count; i++) {
        struct range copied = touched->copied[i];
        if (base_range_is_empty(copied))
            continue;
        table.backend->page_close(copied);
        memcpy((void *)transit_address(TRANSIT_SEND, copied.low), (const void *)copied.low, length_of(copied));
    }
    touched->count = 0;
    atomic_fetch_sub_explicit(&copying.holds, 1, memory_order_relaxed);
}

/* Without memory for a copy MPI loses the page rather than the program: the process ends. So it does a guard page, of
 * which there is no copy, and which it does not read. Returns where to go on. */
static uintptr_t page_take_home(uintptr_t page)
{
    struct range pages = {page, page + base_page_bytes()};
    transit_fetch(TRANSIT_SEND, pages);
    return pages.high;
}

void touched_complete(const struct hold *hold, struct range pages)
{
    struct touched *touched = touched_of(hold);
    struct range gap = uncopied_from(touched, pages.low, pages.high);
    for (uintptr_t next; !base_range_is_empty(gap); gap = uncopied_from(touched, next, pages.high)) {
        next = gap.low + table.backend->page_place(gap, transit_address(TRANSIT_SEND, gap.low));
        if (next < gap.high)
            next = page_take_home(next);
    }
    atomic_fetch_sub_explicit(&copying.holds, 1, memory_order_relaxed);
}

void touched_inherit(const struct hold *hold, struct range pages)
{
    struct touched *touched = touched_of(hold);
    struct range gap = uncopied_from(touched, pages.low, pages.high);
    for (; !base_range_is_empty(gap); gap = uncopied_from(touched, gap.high, pages.high))
        transit_fetch(TRANSIT_SEND, gap);
}

void touched_forked_child(void)
{
    atomic_store_explicit(&copying.holds, 0, memory_order_relaxed);
}
