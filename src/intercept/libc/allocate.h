/* SPDX-License-Identifier: MIT */
/* Heap blocks large enough to hold a message have pages of their own, so that a
 * hold on one never covers a block that MPI uses. */
#ifndef LIBC_ALLOCATE_H
#define LIBC_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From this size on; also the smallest buffer that may share a page with the
 * rest of its own block. */
enum { LIBC_LARGE_BLOCK_BYTES = 65536 };

/* False with an allocator other than libc's own, or one before it: it lays out blocks in its way, anywhere. */
bool libc_large_blocks_own_pages(void);

/* As malloc, for Lapwing itself: it never waits for ops, so locks may be held. Null: no memory. */
void *libc_block_own(size_t length_bytes);

#endif
