/* SPDX-License-Identifier: MIT */
/* A small mutual exclusion lock over a futex: no libpthread state, usable
 * before constructors have run, and safe to hold across fork handlers.
 * Not recursive. Not for signal context. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* state: 0 free, 1 taken, 2 taken and somebody sleeps. Zero-initialised. */
struct base_lock {
    _Atomic uint32_t state;
};

void base_lock_take(struct base_lock *lock);
bool base_lock_try(struct base_lock *lock);
void base_lock_release(struct base_lock *lock);

#endif
