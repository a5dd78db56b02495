/* SPDX-License-Identifier: MIT */
/* The heap blocks that have pages of their own, while they live. Any thread; no locks. */
#ifndef LIBC_BLOCKS_H
#define LIBC_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pages.h"

/* A block that begins on a page and fills whole pages was made; `length_bytes` were asked for. It may not be
 * remembered: then nothing is known of it. */
void libc_blocks_note(const void *block, size_t length_bytes);

/* Before the block is given back. The length that was asked for, 0 when the block is not known. */
size_t libc_blocks_forget(const void *block);

/* Do these bytes lie on the pages of one block that is known? */
bool libc_blocks_contain(struct range bytes);

/* Do they lie there, and on their last page nothing behind them that was asked for? */
bool libc_blocks_end_by(struct range bytes);

#endif
