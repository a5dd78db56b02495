/* SPDX-License-Identifier: MIT */
/* Buffers that are sent again and again become huge pages.
 *
 * Protecting small pages against writing and opening them again costs some 30 us
 * per MiB; a huge page costs as much as one small one (docs/measurements.md). */
#ifndef PROTECT_HUGE_H
#define PROTECT_HUGE_H

#include "base/range.h"

/* Tells that `pages` are about to be held for a send, and are not held yet.
 * The caller has the lock of the table of holds. Takes under a millisecond or
 * two, and nothing at all once a buffer is what it can be. */
void huge_note_send(struct range pages);

/* In the child after fork, and when the backend ends: everything is forgotten. */
void huge_forget(void);

#endif
