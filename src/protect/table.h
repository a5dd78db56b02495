/* SPDX-License-Identifier: MIT */
/* Changes to the table of holds (holds.h), one at a time. */
#ifndef PROTECT_TABLE_H
#define PROTECT_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/range.h"
#include "protect/holds.h"

/* What was before, to leave with. */
struct table_before {
    uint64_t mask;
    int saved_errno;
};

/* All signals are blocked from enter to leave: a handler of the program that touched a
 * hold would wait for a release that waits here. */
struct table_before table_enter(void);
void table_leave(struct table_before before);

/* The rest: between the two, or in a forked child, which is alone. */

struct backend;

/* forking_count: threads that fork now; meanwhile nothing is armed or copied.
 * backend: NULL: none. Written by start, stop and after fork (protect.c).
 * held_calls_fail: of the backend that was started to hold; written by start.
 * has_several_threads: protect_threads_set(); any thread, relaxed. */
extern struct table {
    struct base_lock lock;
    uint32_t forking_count;
    const struct backend *backend;
    bool held_calls_fail;
    _Atomic bool has_several_threads;
} table;

/* NULL when all are in use. */
struct hold *table_find_free(void);

/* Describes the hold in a free slot, and makes it known. */
void table_fill(struct hold *hold, enum hold_kind kind, struct range bytes, struct range pages, uint64_t op_id);
void table_publish(struct hold *hold, struct range pages);

/* The pages below `low` are back: the rest stays armed. Wakes who waits, to look again. */
void table_shorten(struct hold *hold, uintptr_t low);

/* Its next touch is news. Wakes who waits, to look again, and to tell. */
void table_renew(struct hold *hold);

/* Its pages are back: frees the slot, and wakes who waits. */
void table_retire(struct hold *hold);

/* The lock may have been taken by a thread that does not exist in the child; the holds that
 * were armed are not any more, or lost. */
void table_forked_child(void);

#endif
