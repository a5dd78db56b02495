/* SPDX-License-Identifier: MIT */
/* Blocks of lengths that are received in, again and again, get pages of their own, and keep them when they are given
 * back: the next block of that length costs no page faults. Lengths that nobody wished for are not affected. */
#ifndef LIBC_RECYCLED_H
#define LIBC_RECYCLED_H

#include <stdbool.h>
#include <stddef.h>

/* A message was received in a block of this length that shares its first or last page: the next ones are not to. */
void libc_recycled_wish(size_t length_bytes);

/* A block that begins on a page and has it to itself, to its end; NULL where nobody wished for it, or where a few such
 * blocks live already. Any thread. */
void *libc_recycled_take(size_t length_bytes);

/* `block`, of that length, is given back. True: it is kept for the next one, and libc must not have it. */
bool libc_recycled_give(void *block, size_t length_bytes);

/* The same block goes another way (realloc). */
void libc_recycled_leave(const void *block, size_t length_bytes);

/* Gives libc what is kept. True: there was some, so that memory may be had now. */
bool libc_recycled_clear(void);

#endif
