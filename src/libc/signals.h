/* SPDX-License-Identifier: MIT */
#ifndef LIBC_SIGNALS_H
#define LIBC_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* MPI is about to be set up: handlers matter from here on, those that are there already among them. */
void libc_signals_watch(void);

/* Has the program a handler for signals that come at any time (timers, SIGUSR1,
 * SIGTERM, real-time signals, ...)? It runs in any thread, inside MPI too. Handlers
 * of faults do not count, nor those of MPI and of languages' runtimes. */
bool libc_signals_have_handlers(void);

/* signal() and its kin, which differ in the flags alone. */
sighandler_t libc_signals_set(int number, sighandler_t handler, unsigned flags,
                              sighandler_t (*real)(int, sighandler_t));

/* Opens the signal that a touch raises to this thread, where the protect layer needs it. */
void libc_signals_open_thread(void);

#endif
