/* SPDX-License-Identifier: MIT */
/* What libc's entries know about the life of the process. */
#ifndef LIBC_PROCESS_H
#define LIBC_PROCESS_H

#include <stdbool.h>

/* MPI is being set up: from here on a fork waits for messages. */
void libc_process_watch(void);

/* False in a child of vfork(), which borrows this memory. One system call. */
bool libc_process_is_owner(void);

#endif
