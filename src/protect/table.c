/* SPDX-License-Identifier: MIT */
#include "protect/table.h"

#include <errno.h>
#include <stddef.h>

#include "base/futex.h"
#include "protect/armed.h"
#include "protect/kernel.h"

_Atomic uint32_t protect_armed_count;

struct table table = {.has_several_threads = true};

struct table_before table_enter(void)
{
    int saved_errno = errno;
    return (struct table_before){kernel_lock_take(&table.lock), saved_errno};
}

void table_leave(struct table_before before)
{
    kernel_lock_release(&table.lock, before.mask);
    errno = before.saved_errno;
}

struct hold *table_find_free(void)
{
    for (uint32_t i = 0; i < PROTECT_HOLDS_MAX; i++)
        if (atomic_load_explicit(&holds.table[i].word, memory_order_relaxed) % 2 == 0)
            return &holds.table[i];
    return NULL;
}

static uint32_t slot_index(const struct hold *hold)
{
    return (uint32_t)(hold - holds.table);
}

static void bounds_widen(struct range pages)
{
    /* relaxed: only the lock's owner writes; readers see them by the word or a bit later */
    bool is_first = atomic_load_explicit(&holds.used, memory_order_relaxed) == 0;
    uintptr_t low = is_first ? UINTPTR_MAX : atomic_load_explicit(&holds.bound_low, memory_order_relaxed);
    uintptr_t high = atomic_load_explicit(&holds.bound_high, memory_order_relaxed);
    struct range bounds = base_range_around((struct range){low, high}, pages);
    atomic_store_explicit(&holds.bound_low, bounds.low, memory_order_relaxed);
    atomic_store_explicit(&holds.bound_high, bounds.high, memory_order_relaxed);
}

void table_fill(struct hold *hold, enum hold_kind kind, struct range bytes, struct range pages, uint64_t op_id)
{
    hold->bytes = bytes;
    /* release: see the order in holds.h */
    atomic_store_explicit(&hold->low, pages.low, memory_order_release);
    atomic_store_explicit(&hold->high, pages.high, memory_order_release);
    atomic_store_explicit(&hold->op_id, op_id, memory_order_release);
    atomic_store_explicit(&hold->kind, kind, memory_order_release);
}

/* From here on a touch is known for one, so this comes before the first guard. */
void table_publish(struct hold *hold, struct range pages)
{
    bounds_widen(pages);
    uint32_t used = atomic_load_explicit(&holds.used, memory_order_relaxed);
    atomic_fetch_add_explicit(&hold->word, 1, memory_order_release);
    if (used <= slot_index(hold))
        atomic_store_explicit(&holds.used, slot_index(hold) + 1, memory_order_release);
    atomic_fetch_add_explicit(&protect_armed_count, 1, memory_order_release);
}

static void table_shrink(void)
{
    uint32_t used = atomic_load_explicit(&holds.used, memory_order_relaxed);
    while (used > 0 && atomic_load_explicit(&holds.table[used - 1].word, memory_order_relaxed) % 2 == 0)
        used--;
    /* release: who finds fewer holds than there were finds the count of releases, too. */
    atomic_store_explicit(&holds.used, used, memory_order_release);
    if (used > 0)
        return;
    atomic_store_explicit(&holds.bound_low, UINTPTR_MAX, memory_order_relaxed);
    atomic_store_explicit(&holds.bound_high, 0, memory_order_relaxed);
}

/* The pages are back: first the count for a fault that is on its way to the
 * handler, then the word for those that sleep. */
void table_retire(struct hold *hold)
{
    atomic_fetch_add_explicit(&holds.release_count, 1, memory_order_release);
    atomic_fetch_add_explicit(&hold->word, 1, memory_order_release);
    atomic_fetch_sub_explicit(&protect_armed_count, 1, memory_order_release);
    table_shrink();
    base_futex_wake(&hold->word, INT32_MAX);
}

void table_renew(struct hold *hold)
{
    atomic_fetch_add_explicit(&hold->word, 2, memory_order_release);
    base_futex_wake(&hold->word, INT32_MAX);
}

/* In the order of table_retire(): a fault that is on its way and finds the new bound, and so no hold, finds the count
 * that came before it. It has not been seen by that thread: who has seen it comes after the pages were opened, and does
 * not fault there. One that finds the old bound has the old word, on which it does not sleep. */
void table_shorten(struct hold *hold, uintptr_t low)
{
    if (hold->bytes.low < low)
        hold->bytes.low = low;
    atomic_fetch_add_explicit(&holds.release_count, 1, memory_order_release);
    atomic_store_explicit(&hold->low, low, memory_order_release);
    table_renew(hold);
}

void table_forked_child(void)
{
    table_shrink();
    atomic_store_explicit(&table.lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&protect_armed_count, 0, memory_order_relaxed);
    table.forking_count = 0;
}
