/* SPDX-License-Identifier: MIT */
/* The table of holds. Written under table.c's lock, read by anybody at any
 * time, also in signal context and without a lock. */
#ifndef PROTECT_HOLDS_H
#define PROTECT_HOLDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rights.h"
#include "protect/hold.h"

/* The table itself must never lie in a held page: it stands in the preloaded
 * file's own data segment, where no buffer of a program is.
 *
 * Invariants:
 *   word odd  <=>  armed, being armed or being released: the pages may be guarded
 *                  (and in a forked child: lost)
 *   word even <=>  free: no page is guarded on account of this slot
 *   word only grows, so that (slot, word) names one hold for ever; it grows by two when a part of the hold is
 *   released, or its touch is asked for again: it then counts as another one, and its next touch is news
 *
 * Order: arm stores the fields below `word` with release while the word is even,
 * then makes the word odd with release.
 * A reader loads the word with acquire, the fields with acquire, and the word
 * again: a field of a later hold brings the even word before it along, so that
 * the second look at the word differs. */
struct hold {
    _Atomic uint32_t word;         /* futex; written by arm and release, read and slept on in fault.c */
    _Atomic uint32_t touched_word; /* the word of the hold whose touch was reported last; only fault.c */
    _Atomic uint64_t op_id;        /* written by arm; read by lookups */
    _Atomic uintptr_t low;         /* whole pages; written by arm and table_shorten(); read by lookups */
    _Atomic uintptr_t high;
    _Atomic uint32_t kind; /* enum hold_kind; written by arm; read by lookups */
    struct range bytes;    /* of the buffer; for the owner of the hold, under the lock, and in a forked child */
} __attribute__((aligned(64)));

/* What a reader saw of an armed hold. */
struct hold_view {
    struct range pages;
    uint64_t op_id;
    enum hold_kind kind;
    uint32_t word;
};

/* used: slots at and above this index are free. Written under the lock.
 * bound_low, bound_high: holds lie inside these bounds; they may be wider than needed. Written
 * under the lock, before the word of a new hold.
 * rights: of protection keys; written before the first hold.
 * release_count: grows after pages came back, and before the word of their hold turns even or its lower bound moves. */
extern struct holds {
    struct hold table[PROTECT_HOLDS_MAX];
    struct base_rights rights;
    _Atomic uint32_t used;
    _Atomic uint32_t release_count;
    _Atomic uintptr_t bound_low;
    _Atomic uintptr_t bound_high;
} holds;

/* True when the slot was armed all the while. Signal context allowed. */
bool hold_view_take(struct hold *hold, struct hold_view *view);

/* The next armed hold behind `before`, or the first of all behind NULL, that covers some of `pages`, as *view has it;
 * NULL at the end. Signal context allowed. */
struct hold *hold_next(const struct hold *before, struct range pages, struct hold_view *view);

/* Sets of kinds. */
enum {
    HOLDS_NO_ACCESS = 1 << HOLD_NO_ACCESS,
    HOLDS_COPY_ON_TOUCH = 1 << HOLD_COPY_ON_TOUCH,
    HOLDS_LOST = 1 << HOLD_LOST,
    HOLDS_NO_READ = HOLDS_NO_ACCESS | HOLDS_COPY_ON_TOUCH | HOLDS_LOST,
    HOLDS_ALL = HOLDS_NO_READ | 1 << HOLD_NO_WRITE
};

/* The first that is of one of these kinds. */
struct hold *hold_first_of(int kinds, struct range pages, struct hold_view *view);

#endif
