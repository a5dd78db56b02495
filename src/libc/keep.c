/* SPDX-License-Identifier: MIT */
#include "libc/keep.h"

#include <stdatomic.h>

#include "protect/kernel.h"

enum { KEEPS_MAX = 512 };

/* Written under the lock; read without it: who asks for a hold on memory that
 * another thread is giving away at that moment has no order with it anyway. */
static struct {
    struct base_lock lock;
    _Atomic bool are_too_many;
    _Atomic uint32_t used;
    struct {
        _Atomic uintptr_t owner; /* 0: free */
        _Atomic uintptr_t low;
        _Atomic uintptr_t high;
    } entries[KEEPS_MAX];
} keeps;

static uint32_t entry_find(uintptr_t owner)
{
    uint32_t used = atomic_load_explicit(&keeps.used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        if (atomic_load_explicit(&keeps.entries[i].owner, memory_order_relaxed) == owner)
            return i;
    return used;
}

static void entry_write(uint32_t i, uintptr_t owner, struct range bytes)
{
    atomic_store_explicit(&keeps.entries[i].low, bytes.low, memory_order_relaxed);
    atomic_store_explicit(&keeps.entries[i].high, bytes.high, memory_order_relaxed);
    atomic_store_explicit(&keeps.entries[i].owner, owner, memory_order_relaxed);
    if (i == atomic_load_explicit(&keeps.used, memory_order_relaxed))
        /* release: who sees the number sees the entry. */
        atomic_store_explicit(&keeps.used, i + 1, memory_order_release);
}

static void entry_set(uintptr_t owner, struct range bytes)
{
    bool is_empty = base_range_is_empty(bytes);
    uint32_t i = entry_find(owner);
    if (i == atomic_load_explicit(&keeps.used, memory_order_relaxed))
        i = is_empty ? KEEPS_MAX : entry_find(0);
    if (i < KEEPS_MAX)
        entry_write(i, is_empty ? 0 : owner, bytes);
    else if (!is_empty)
        atomic_store_explicit(&keeps.are_too_many, true, memory_order_relaxed);
}

/* sigaltstack(2) may be called in a signal handler. */
void libc_keep_set(uintptr_t owner, struct range bytes)
{
    uint64_t mask = kernel_lock_take(&keeps.lock);
    entry_set(owner, bytes);
    kernel_lock_release(&keeps.lock, mask);
}

bool libc_keep_touches(struct range bytes)
{
    uint32_t used = atomic_load_explicit(&keeps.used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        struct range kept = {atomic_load_explicit(&keeps.entries[i].low, memory_order_relaxed),
                             atomic_load_explicit(&keeps.entries[i].high, memory_order_relaxed)};
        if (base_ranges_overlap(kept, bytes))
            return true;
    }
    return atomic_load_explicit(&keeps.are_too_many, memory_order_relaxed);
}

void libc_keep_forked_child(void)
{
    atomic_store_explicit(&keeps.lock.state, 0, memory_order_relaxed);
}
