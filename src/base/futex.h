/* SPDX-License-Identifier: MIT */
/* The kernel's futex(2), private to the process. Safe in signal context:
 * both are one system call and touch errno only through the caller's copy. */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while *word == expected, until a wake, a signal or the timeout
 * (nanoseconds, relative; negative: none). May return early: loop. */
void base_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);

/* Wakes up to `count` sleepers on the word. */
void base_futex_wake(_Atomic uint32_t *word, int count);

#endif
