/* SPDX-License-Identifier: MIT */
#ifndef LIBC_PROCESS_H
#define LIBC_PROCESS_H

/* exit() and its kin. */
void libc_process_exit(int status, void (*real)(int));

/* longjmp() and its kin, which may leave a wait. Nobody else tells us: a handler runs on the stack of the wait that it
 * interrupted, and where the jump leads is libc's secret. */
void libc_process_jump(void *state, int value, void (*real)(void *, int));

#endif
