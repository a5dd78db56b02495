/* SPDX-License-Identifier: MIT */
/* The table of watches; shared by watching.c and what of it runs in signal context.
 *
 * FREE -> TAKEN -> ARMED -> [TOUCHING -> TOUCHED] -> CLAIMED -> FREE
 * TAKEN to ARMED comes before the pages are closed, so that a touch always finds its
 * watch. Only the handler goes to TOUCHING and on to TOUCHED, by a CAS from ARMED. */
#ifndef PROTECT_WATCHES_H
#define PROTECT_WATCHES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "protect/watch.h"

enum watch_state { WATCH_FREE, WATCH_TAKEN, WATCH_ARMED, WATCH_TOUCHING, WATCH_TOUCHED, WATCH_OPENING, WATCH_CLAIMED };

struct watch_slot {
    _Atomic uint32_t state;
    /* Written while TAKEN, published by ARMED. A handler that is late may read those of a
     * later watch: it then opens memory that may be open. */
    int part_count;
    struct watch_part parts[WATCH_PARTS_MAX];
};

/* touched_count: watches that were touched and are not claimed yet. */
extern struct watches {
    struct watch_slot slots[WATCHES_MAX];
    _Atomic uint32_t touched_count;
} watches;

/* The SIGSEGV handler's part. True when the access may be tried again. */
bool watch_handle(uintptr_t address, const void *context);

/* The pages of a watch are open again. False: not all of them. */
bool watch_open(const struct watch_slot *slot);

#endif
