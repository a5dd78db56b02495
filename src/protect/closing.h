/* SPDX-License-Identifier: MIT */
/* The steps that close a hold's pages and open them again, in the terms of the backend in use.
 * Under the table's lock. */
#ifndef PROTECT_CLOSING_H
#define PROTECT_CLOSING_H

#include <stdbool.h>

#include "base/range.h"
#include "protect/holds.h"

/* Before the hold is known. */
void closing_prepare(struct range bytes);

/* False when it cannot be; then nothing has changed. `pages`: those of `bytes`, or those within them (scratch.h). */
bool closing_close(struct hold *hold, enum hold_kind kind, struct range bytes, struct range pages);

/* The transfer is over: who waits is woken by the backend. */
void closing_open(struct hold *hold, enum hold_kind kind, struct range pages);

#endif
