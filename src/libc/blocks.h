/* SPDX-License-Identifier: MIT */
/* The large heap blocks that live, and the pages that are theirs alone. Any thread; no locks. */
#ifndef LIBC_BLOCKS_H
#define LIBC_BLOCKS_H

#include <stdbool.h>

#include "base/range.h"

/* A block was made: `bytes` were asked for, and nobody else has data on `pages` (whole ones). It may not be
 * remembered: then nothing is known of it. */
void libc_blocks_note(struct range pages, struct range bytes);

/* Before the block with these pages is given back. What was asked for, empty when the block is not known. */
struct range libc_blocks_forget(struct range pages);

/* Do these bytes lie on the pages of one block that is known? */
bool libc_blocks_contain(struct range bytes);

/* Do they lie there, and on their first and last page nothing beside them that was asked for? */
bool libc_blocks_fill_pages(struct range bytes);

/* What was asked for of the block that all whole pages within these bytes belong to; empty when none is known. */
struct range libc_blocks_around(struct range bytes);

#endif
