/* SPDX-License-Identifier: MIT */
/* Which holds are armed: what other layers ask, and the files of this one. */
#ifndef PROTECT_ARMED_H
#define PROTECT_ARMED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"

/* Lost: in a forked child, where the data of a message come to the parent alone. A touch
 * ends the child (or goes to its SIGSEGV handler), with a message. */
enum hold_kind { HOLD_NO_WRITE, HOLD_NO_ACCESS, HOLD_COPY_ON_TOUCH, HOLD_LOST };

enum { PROTECT_HOLDS_MAX = 512 };

struct hold; /* one of a fixed table of PROTECT_HOLDS_MAX; never unmapped */

/* Called at the first touch of a hold, possibly in signal context and possibly
 * by the engine thread: may only store atomics and wake a futex. */
typedef void protect_touched_fn(uint64_t op_id, uintptr_t address);

/* Number of armed holds; read without a lock on hot paths. */
extern __attribute__((visibility("hidden"))) _Atomic uint32_t protect_armed_count;

static inline bool protect_is_armed(void)
{
    /* relaxed: a hold armed by another thread at this very moment belongs to
     * memory that this thread may not be using; see ARCHITECTURE.md, "Races". */
    return atomic_load_explicit(&protect_armed_count, memory_order_relaxed) != 0;
}

/* The op of some armed hold whose pages overlap the pages of `bytes`, else 0.
 * With `allow_read`, no-write holds do not count. Safe in signal context. */
uint64_t protect_find_op(struct range bytes, bool allow_read);

/* Is any memory being received into? What is sent everybody may read, there or in a copy. */
bool protect_is_receiving(void);

#endif
