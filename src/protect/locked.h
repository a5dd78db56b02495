/* SPDX-License-Identifier: MIT */
/* Memory that the program has locked (mlock(2), MAP_LOCKED): it may have told a device where it lies. */
#ifndef PROTECT_LOCKED_H
#define PROTECT_LOCKED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/range.h"

enum { LOCKED_MAX = 256 };

void locked_add(struct range bytes);

/* Behind the inline function. */
void locked_cut(struct range gone);

/* Ranges of whole pages that may overlap, in no order. count 0: nothing is locked. relaxed, here and at its other uses:
 * who locks memory beside a message of another thread's has no order with it. */
extern struct locked {
    _Atomic unsigned count; /* written under the lock */
    struct base_lock lock;
    struct range ranges[LOCKED_MAX];
} locked;

static inline bool locked_is_empty(void)
{
    return __builtin_expect(atomic_load_explicit(&locked.count, memory_order_relaxed) == 0, 1);
}

static inline void locked_remove(struct range bytes)
{
    if (!locked_is_empty())
        locked_cut(bytes);
}

/* True for what overlaps locked memory; for everything, when there is too much to remember. Any thread. */
bool locked_touches(struct range bytes);

/* The lock may have been taken by a thread that does not exist in the child, which holds no memory. */
void locked_forked_child(void);

#endif
