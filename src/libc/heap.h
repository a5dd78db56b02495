/* SPDX-License-Identifier: MIT */
/* What else lies on the pages of a buffer in the program's heap? Any thread; not in signal handlers. */
#ifndef LIBC_HEAP_H
#define LIBC_HEAP_H

#include <stdbool.h>

#include "base/range.h"

/* May other blocks, MPI's among them, lie on the same pages? As costly as protect_memory_check(). */
bool libc_heap_is_shared(struct range bytes);

/* May these bytes be a block, or in one, of an allocator other than libc's? */
bool libc_heap_is_foreign(struct range bytes);

/* MPI has given these bytes: where it has not taken them from libc, other blocks of the same allocator, with data of
 * MPI's own, may lie on their first and last page. */
void libc_heap_note_given(struct range bytes);

/* A message in these bytes was passed for that: the next block of their length is to get pages of its own. */
void libc_heap_wish(struct range bytes);

#endif
