/* SPDX-License-Identifier: MIT */
/* A send that never waits (HOLD_COPY_ON_TOUCH): its pages are in transit, where MPI
 * reads them, and the program gets copies of those that it touches. At the end what
 * it has made of them goes to transit, and all pages come home together.
 *
 * All under table.c's lock, but for touched_inherit(). */
#ifndef PROTECT_TOUCHED_H
#define PROTECT_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protect/holds.h"

/* So much of a hold of that length is copied at most; more touches wait. */
size_t touched_most(size_t length_bytes);

/* The hold's pages have just left. */
void touched_begin(const struct hold *hold);

/* Is there such a hold, whose touches want to be answered? Any thread, without the lock. */
bool touched_is_any(void);

/* Copies the page of `address`, and some behind it where touches come one after the
 * other. False when there is no such page, or enough has been copied: the touch waits.
 * While a thread forks nothing is copied, since the child could meet a page that is half there: the touch is left alone
 * until touched_let_again(). */
bool touched_serve(uintptr_t address);
void touched_let_again(void);

/* MPI reads no more: brings the copies to transit, while writers wait. */
void touched_collect(const struct hold *hold);

/* Copies all pages that have no copy yet: the others stay in transit for good. */
void touched_complete(const struct hold *hold, struct range pages);

/* In a forked child: the pages that nobody touched come home, as far as they have not;
 * when that is done for all, there are no such holds. */
void touched_inherit(const struct hold *hold, struct range pages);
void touched_forked_child(void);

#endif
