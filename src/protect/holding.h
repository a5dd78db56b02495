/* SPDX-License-Identifier: MIT */
/* Holds from arming to release. */
#ifndef PROTECT_HOLDING_H
#define PROTECT_HOLDING_H

#include <stdint.h>

#include "base/pages.h"
#include "base/reasons.h"
#include "protect/armed.h"

/* Holds the pages of `bytes` for op `op_id` (not 0). On REASON_NONE *hold is set.
 * Otherwise nothing has changed. The caller has checked the memory and that no
 * other hold covers one of the pages, except no-write holds among themselves. */
enum reason protect_hold_arm(enum hold_kind kind, struct range bytes, uint64_t op_id, struct hold **hold);

/* Where MPI finds the buffer while it is held: in transit, or at its own address
 * for no-write holds. */
void *protect_hold_transfer_address(const struct hold *hold);

/* Gives the pages back, with what arrived, atomically for every thread, and
 * wakes those that wait. Any thread, any time, once per armed hold. */
void protect_hold_release(struct hold *hold);

/* The same for a transfer that never ends, when the process does: what MPI may still
 * write in transit is lost, and what it may still read there stays. */
void protect_hold_abandon(struct hold *hold);

/* Reads what says that a touch waits in the kernel, and answers or reports the touches. For the
 * engine thread, and who does its work. */
void protect_events_read(void);

#endif
