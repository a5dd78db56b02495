/* SPDX-License-Identifier: MIT */
/* What the kernel's list of mappings said of memory, where reading it is the only way to ask (before Linux 6.11).
 * That memory can be held is true as long as
 *  - nobody mapped or changed rights through libc since, and the loader loaded and unloaded nothing;
 *  - every page is there and private to this process, which the kernel is asked each time: pages of shared mappings
 *    never are, whoever mapped them, and memory that is gone has none;
 *  - it is no stack, which the caller looks at.
 * What moves is checked once more when it has moved (transit.c). That memory cannot be held is never wrong, only late,
 * where its pages are there: a send may then be copied. */
#ifndef PROTECT_MEMORY_KEPT_H
#define PROTECT_MEMORY_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/reasons.h"

/* How often mappings have changed. */
struct memory_kept_moment {
    uint64_t changes;
    unsigned long long loads;
};

void memory_kept_start(void);
void memory_kept_stop(void);

/* Is this kernel one that is asked so? */
bool memory_kept_is_used(void);

struct memory_kept_moment memory_kept_now(void);

/* Any thread. `pages` are whole and not empty; the moment is of before the list was read. */
void memory_kept_add(struct range pages, enum reason reason, struct memory_kept_moment moment);
/* False: the list must be read. Of held pages, which may be away, nothing is asked: while they are held they are what
 * they were. */
bool memory_kept_find(struct range pages, bool are_held, enum reason *reason);

/* At the end of a call that may have changed what kind of memory lies anywhere. Any thread, also before the start. */
void memory_kept_note_change(void);

#endif
