/* SPDX-License-Identifier: MIT */
#ifndef LIBC_PROCESS_H
#define LIBC_PROCESS_H

/* The program is about to jump out of its handler, and so out of all forks that this thread is in, and that wait. One
 * that goes on after all, since the jump was one inside the handler, is no longer known as one. */
void libc_process_leave_forks(void);

#endif
