/* SPDX-License-Identifier: MIT */
/* Bytes beside those of a receive, on a page that is held for it: the next row of a matrix, mostly. The program waits
 * where it touches them, but what is to be sent can be read where the page is in transit. */
#ifndef PROTECT_BESIDE_H
#define PROTECT_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

struct hold;

/* Does a receive into other bytes hold the first or the last page of these, and no hold the bytes themselves? Not for
 * holds in place. */
bool protect_beside_is(struct range bytes);

/* Copies them. False where a hold has some of the bytes themselves, or those on a shared page cannot be read. */
bool protect_beside_copy(void *room, uintptr_t bytes, size_t length_bytes);

/* Where bytes of one page can be read now, whether or not a receive into others holds it. Under the table's lock. */
const void *beside_find(struct range bytes);

#endif
