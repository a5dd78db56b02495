/* SPDX-License-Identifier: MIT */
#include "protect/locked.h"

#include "base/pages.h"
#include "protect/kernel.h"

struct locked locked;

static unsigned count_read(void)
{
    return atomic_load_explicit(&locked.count, memory_order_relaxed);
}

static void count_set(unsigned count)
{
    atomic_store_explicit(&locked.count, count, memory_order_relaxed);
}

/* Where there is no room, all memory counts as locked, but for what is unlocked later. */
static void range_add(struct range pages)
{
    bool is_full = count_read() == LOCKED_MAX;
    unsigned index = is_full ? 0 : count_read();
    if (base_range_is_empty(pages))
        return;
    locked.ranges[index] = is_full ? base_range_of_all() : pages;
    count_set(index + 1);
}

/* The last one takes its place. */
static void range_drop(unsigned index)
{
    locked.ranges[index] = locked.ranges[count_read() - 1];
    count_set(count_read() - 1);
}

static void range_cut(unsigned index, struct range gone)
{
    struct range before = {locked.ranges[index].low, gone.low};
    struct range behind = {gone.high, locked.ranges[index].high};
    range_drop(index);
    range_add(before);
    range_add(behind);
}

/* From the end: what a cut leaves goes there, and overlaps nothing that is gone. */
static void ranges_remove(struct range gone)
{
    for (unsigned i = count_read(); i-- > 0;)
        if (i < count_read() && base_ranges_overlap(locked.ranges[i], gone))
            range_cut(i, gone);
}

/* A handler may unmap memory. */
void locked_add(struct range bytes)
{
    uint64_t mask = kernel_lock_take(&locked.lock);
    range_add(base_pages_of(bytes));
    kernel_lock_release(&locked.lock, mask);
}

void locked_cut(struct range gone)
{
    uint64_t mask = kernel_lock_take(&locked.lock);
    ranges_remove(base_pages_of(gone));
    kernel_lock_release(&locked.lock, mask);
}

bool locked_touches(struct range bytes)
{
    if (locked_is_empty())
        return false;
    uint64_t mask = kernel_lock_take(&locked.lock);
    bool is_found = false;
    for (unsigned i = 0; i < count_read() && !is_found; i++)
        is_found = base_ranges_overlap(locked.ranges[i], bytes);
    kernel_lock_release(&locked.lock, mask);
    return is_found;
}

void locked_forked_child(void)
{
    atomic_store_explicit(&locked.lock.state, 0, memory_order_relaxed);
}
