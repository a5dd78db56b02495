/* SPDX-License-Identifier: MIT */
#ifndef LIBC_SIGNALS_H
#define LIBC_SIGNALS_H

#include <stdbool.h>

/* Has the program a handler for signals that come at any time (timers, SIGUSR1,
 * SIGCHLD, real-time signals, ...)? It runs in any thread, inside MPI too. Handlers
 * of faults and of a user's Ctrl-C do not count, nor those that MPI sets. */
bool libc_signals_have_handlers(void);

#endif
