/* SPDX-License-Identifier: MIT */
/* What libc's entries know about the life of the process. */
#ifndef LIBC_PROCESS_H
#define LIBC_PROCESS_H

/* MPI is being set up: from here on a fork waits for messages. */
void libc_process_watch(void);

#endif
