/* SPDX-License-Identifier: MIT */
/* malloc and its kin are libc's own. What is large enough to hold a message is remembered while it lives, so that a
 * hold on it never covers data that MPI has on the same page. */
#ifndef LIBC_ALLOCATE_H
#define LIBC_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

/* From this size on; also the smallest buffer that may share a page with the
 * rest of its own block. */
enum { LIBC_LARGE_BLOCK_BYTES = 65536 };

/* memalign() and aligned_alloc(). */
void *libc_allocate_aligned(size_t alignment_bytes, size_t length_bytes, void *(*real)(size_t, size_t));

/* MPI's library is there: blocks that may hold messages are remembered from now on. Any thread. */
void libc_allocate_follow(void);

/* An allocator beside libc's has given these bytes, and may have given all that lies between them and what it gave
 * before. Any thread. */
void libc_allocate_note_other(struct range bytes);

/* May these bytes be of such an allocator? */
bool libc_allocate_is_other(struct range bytes);

/* Do blocks of this process come through here, from libc's allocator? False with any other: it lays out blocks in its
 * way, anywhere. Takes a block to see it: not in signal handlers. */
bool libc_allocate_is_known(void);

#endif
