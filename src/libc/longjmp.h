/* SPDX-License-Identifier: MIT */
#ifndef LIBC_LONGJMP_H
#define LIBC_LONGJMP_H

/* The program is about to jump, and this thread waits for ops: this is a signal handler's jump, out of a system call
 * that we wait before (a timeout). The waits are over, but for their ends; one that goes on after all, since the jump
 * was one inside the handler, is no longer known as one. */
void intercept_waits_left(void);

#endif
