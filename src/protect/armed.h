/* SPDX-License-Identifier: MIT */
/* Is something armed, and what: asked before the kernel or MPI gets memory. */
#ifndef PROTECT_ARMED_H
#define PROTECT_ARMED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"

/* Number of armed holds and watches; read without a lock on hot paths. */
extern _Atomic uint32_t protect_armed_count;

static inline bool protect_armed_is_any(void)
{
    /* relaxed: a hold armed by another thread at this very moment belongs to
     * memory that this thread may not be using; see docs/inside.md, "Races". */
    return atomic_load_explicit(&protect_armed_count, memory_order_relaxed) != 0;
}

/* The op of some armed hold whose pages overlap the pages of `bytes`, else 0.
 * With `allow_read`, no-write holds do not count. Safe in signal context. */
uint64_t protect_armed_find(struct range bytes, bool allow_read);

/* Waits as at a touch, until nothing of these bytes is held but what everybody may read there; copies do not count. For
 * a thread inside MPI, which cannot wait for the op. */
void protect_armed_wait(struct range bytes);

/* Is any memory being received into? What is sent everybody may read, there or in a copy. */
bool protect_armed_is_receiving(void);

/* Are pages in transit, and so take addresses twice? */
bool protect_armed_is_elsewhere(void);

#endif
