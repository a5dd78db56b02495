/* SPDX-License-Identifier: MIT */
/* Watches: memory whose first touch is noticed, and never waited for. The pages are
 * closed with mprotect; the SIGSEGV handler of the signal backend (protect_start_watches())
 * opens them at the first touch, tells who asked, and the program goes on.
 *
 * A watch covers whole pages. A touch beside the bytes, on their first or last page,
 * opens that page and nothing else.
 *
 * A system call on watched memory would fail with EFAULT: as with holds, whoever enters
 * one first ends the watches there. */
#ifndef PROTECT_WATCH_H
#define PROTECT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "protect/context.h"

enum { WATCHES_MAX = 8, WATCH_PARTS_MAX = 2, WATCH_NONE = -1 };

struct watch_part {
    struct range bytes; /* what a touch means */
    struct range pages; /* what is closed: bytes' own whole pages, or also those at their ends */
    bool forbids_reads;
};

/* Called once per watch at its first touch, in signal context, in the thread that touched. */
typedef void watch_touched_fn(int watch, uintptr_t address, const struct context_place *place);

/* Before the first watch. */
void watch_report_to(watch_touched_fn *touched);

/* A free watch for this thread to fill; WATCH_NONE when all are in use. */
int watch_take(void);

/* Closes the pages of a taken watch. The memory has been checked (protect_memory_check_to_watch()),
 * and no watch nor hold is there. False, and the watch is free again, when the kernel
 * refuses. */
bool watch_arm(int watch, const struct watch_part parts[], int count);

bool watch_is_armed(int watch);
bool watch_is_touched(int watch);

/* Makes this thread the one that ends an armed or touched watch; opens its pages. False when
 * it is neither, or another thread was faster. Then watch_free(). */
bool watch_claim(int watch, bool *is_touched);
void watch_free(int watch);

/* The same, but it is taken again at once. */
void watch_take_again(int watch);

/* The first watch at or after `from` that a touch of these bytes would end; WATCH_NONE. */
int watch_find(int from, struct range bytes, bool is_read);

/* Waits until what other threads have touched or claimed there is open: these bytes are about to be used by a system
 * call. */
void watch_await_opening(struct range bytes, bool is_read);

/* Is there one that was touched and is not claimed yet? */
bool watch_is_any_touched(void);

/* In the child after fork: no watches; the memory is open. */
void watch_forked_child(void);

#endif
