/* SPDX-License-Identifier: MIT */
/* Who else uses the pages of a buffer: what libc's entries have seen of the program's heap, stacks, threads and signal
 * handlers. Any thread; not in signal handlers. */
#ifndef LIBC_SHARING_H
#define LIBC_SHARING_H

#include <stdbool.h>

#include "base/range.h"
#include "base/reasons.h"

/* REASON_NONE when nobody may touch the rest of these pages who cannot wait, and no small block of the heap lies there.
 * *is_alone: then there is no rest, so that nobody else need be asked. has_gaps: not all of the bytes are the buffer's.
 * As costly as protect_memory_check(), where pages are shared. */
enum reason libc_sharing_check(struct range bytes, bool has_gaps, bool *is_alone);

/* Is there nothing beside these bytes on their pages? */
bool libc_sharing_is_filled(struct range bytes);

/* May other blocks of the heap, MPI's among them, lie on the first or last page of these bytes, or, given by an
 * allocator other than libc's, in their place while they are held? */
bool libc_sharing_is_heap(struct range bytes);

#endif
