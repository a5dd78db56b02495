/* SPDX-License-Identifier: MIT */
/* Holds from arming to release. */
#ifndef PROTECT_HOLD_H
#define PROTECT_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/reasons.h"

/* Lost: in a forked child, where the data of a message come to the parent alone. A touch
 * ends the child (or goes to its SIGSEGV handler), with a message. */
enum hold_kind { HOLD_NO_WRITE, HOLD_NO_ACCESS, HOLD_COPY_ON_TOUCH, HOLD_LOST };

enum { PROTECT_HOLDS_MAX = 512 };

struct hold; /* one of a fixed table of PROTECT_HOLDS_MAX; never unmapped */

/* Called at the first touch of a hold, possibly in signal context and possibly
 * by the engine thread: may only store atomics and wake a futex. */
typedef void protect_hold_touched_fn(uint64_t op_id, uintptr_t address);

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

/* Gives back the pages below `high`, a page's address within the hold: that much has come,
 * or gone. The rest stays held. Not for HOLD_COPY_ON_TOUCH. As release, but as often as wanted. */
void protect_hold_release_until(struct hold *hold, uintptr_t high);

/* Whoever waits at a touch of it tells so once more. */
void protect_hold_ask_again(struct hold *hold);

/* As release, for a transfer that never ends, when the process does: what MPI may still
 * write in transit is lost, and what it may still read there stays. */
void protect_hold_abandon(struct hold *hold);

/* As release, for a receive that goes on: what is still to come arrives in a copy in transit, and is brought home by
 * protect_hold_join(). Nothing may be arriving meanwhile. `room`: of these pages, gone afterwards. False where it is
 * held no more; then nothing has changed. */
bool protect_hold_part(struct hold *hold, void *room);

/* What that takes, while there still is a choice: NULL without memory for it. */
void *protect_hold_room_take(struct range pages);
void protect_hold_room_give_back(void *room, struct range pages);

/* All has come of a receive into these bytes, whose hold was parted. */
void protect_hold_join(struct range bytes);

/* Reads what says that a touch waits in the kernel, and answers or reports the touches. For the
 * engine thread, and who does its work. */
void protect_hold_events_read(void);

#endif
