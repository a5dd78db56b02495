/* SPDX-License-Identifier: MIT */
/* What a watch closes, and whom its touch is told. */
#ifndef PROTECT_WATCH_PART_H
#define PROTECT_WATCH_PART_H

#include <stdbool.h>

#include "base/pages.h"
#include "protect/context.h"

enum { WATCHES_MAX = 8, WATCH_PARTS_MAX = 2, WATCH_NONE = -1 };

struct watch_part {
    struct range bytes; /* what a touch means */
    struct range pages; /* what is closed: bytes' own whole pages, or also those at their ends */
    bool forbids_reads;
};

/* Called once per watch at its first touch, in signal context, in the thread that touched. */
typedef void watch_touched_fn(int watch, uintptr_t address, const struct code_place *place);

/* Before the first watch. */
void watch_report_to(watch_touched_fn *touched);

#endif
