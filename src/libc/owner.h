/* SPDX-License-Identifier: MIT */
/* Whose memory is this? A child of vfork() borrows its parent's. */
#ifndef LIBC_OWNER_H
#define LIBC_OWNER_H

#include <stdbool.h>

/* False in such a child. One system call. */
bool libc_owner_is_here(void);

/* This process is the owner: at the start, and in a child of fork(). */
void libc_owner_note(void);

/* The process ends. True once, and in the owner only. */
bool libc_owner_begins_exit(void);

#endif
