/* SPDX-License-Identifier: MIT */
/* Memory for copies of messages that are sent while the program goes on with its
 * own buffer, and for those that are received before it asks for them. Blocks are used again: a fresh one costs a page
 * fault per page, as much as the copying itself. */
#ifndef OP_COPIES_H
#define OP_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A copy of the bytes; NULL when there is no memory, or when the copies that
 * exist would take more than option `buffer` together. Any thread. */
void *copies_take(const void *bytes, size_t length_bytes);

/* The same where the program may not be able to read all of them. NULL then, too. */
void *copies_take_readable(const void *bytes, size_t length_bytes);

/* The same of what may lie beside a receive under way (protect/beside.h). */
void *copies_take_beside(const void *bytes, size_t length_bytes);

/* Room for so many bytes, within the same bounds; NULL when there is none. Any thread. */
void *copies_room(size_t length_bytes);

/* The same bounds for copies that are made elsewhere, if at all. Any thread. */
bool copies_reserve(size_t length_bytes);
void copies_unreserve(size_t length_bytes);

/* NULL is fine. Any thread. */
void copies_give_back(void *copy);

/* What copying so many bytes has cost lately, in ns. */
int64_t copies_cost_ns(size_t length_bytes);

#endif
