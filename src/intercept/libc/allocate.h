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

/* False with an allocator other than libc's own: it lays out blocks in its way. */
bool libc_large_blocks_own_pages(void);

/* Does the program's part of a large block, as far as it asked for it, reach no further than this address, on the same
 * page? False where that is not known (any more). */
bool libc_large_block_ends_by(uintptr_t address);

#endif
