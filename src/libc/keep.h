/* SPDX-License-Identifier: MIT */
/* Memory that is used at any time by somebody who cannot wait: the kernel writes
 * a signal's frame to an alternate stack, libc writes out the buffer that the
 * program gave to a stream. No page of it is ever held. */
#ifndef LIBC_KEEP_H
#define LIBC_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"

/* One range per owner (a thread, a stream); an empty one forgets it. */
void libc_keep_set(uintptr_t owner, struct range bytes);

/* True for what overlaps one of them; for everything, when there are too many. */
bool libc_keep_touches(struct range bytes);

/* The lock may have been taken by a thread that does not exist in the child, which holds no memory. */
void libc_keep_forked_child(void);

#endif
