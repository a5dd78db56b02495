/* SPDX-License-Identifier: MIT */
/* What libc's entries know about the life of the process, and whom they tell. */
#ifndef LIBC_PROCESS_H
#define LIBC_PROCESS_H

#include <stdbool.h>

/* MPI is being set up: from here on a fork waits for messages. */
void libc_process_watch(void);

/* False in a child of vfork(), which borrows this memory. One system call. */
bool libc_process_is_owner(void);

/* Given by intercept: in the child after fork, before fork() returns there.
 * The child has one thread and must not use what the others may have locked. */
void intercept_process_forked(void);

/* Given by intercept: the program makes a userfaultfd of its own. */
void intercept_process_watches_memory(void);

/* Given by intercept: the program gives memory a protection key (pkeys(7)). What a thread may do there is in a register
 * of its own, and the engine's knows nothing of the key. */
void intercept_process_keys_memory(void);

/* Given by intercept: the program is about to make memory known to a device, or to a ring of io_uring. */
void intercept_process_registers_memory(void);

/* Given by intercept: is this the name of a function that does so? */
bool intercept_process_is_registrar(const char *name);

/* Given by intercept: the program asks for functions of MPI's that Lapwing does not stand before. */
void intercept_process_bypasses(void);

/* Given by intercept: the process is about to end, by exit(), _exit(),
 * quick_exit() or the return of main. Called once per process, in exit()'s case
 * before the program's own atexit handlers. _exit() is allowed in signal
 * handlers: must not wait for a lock that this very thread may hold. */
void intercept_process_exiting(void);

#endif
