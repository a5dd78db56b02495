/* SPDX-License-Identifier: MIT */
#ifndef LIBC_SIGNALS_H
#define LIBC_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* MPI is about to be set up: handlers matter from here on, those that are there already among them. */
void libc_signals_watch(void);

/* Has the program a handler for signals that come at any time (timers, SIGUSR1,
 * SIGTERM, real-time signals, ...)? It runs in any thread, inside MPI too. Handlers
 * of faults do not count, nor those of MPI and of languages' runtimes. */
bool libc_signals_have_handlers(void);

/* A set of signals to block, without the one that a touch raises where the protect
 * layer needs it: `kept`, filled, or `mask` itself where nothing has to go. */
const sigset_t *libc_signals_mask(const sigset_t *mask, sigset_t *kept);

/* The same for this thread, whatever it blocks already; and for a context of the
 * program's, in place: it is entered by jumps that read it themselves. */
void libc_signals_open_thread(void);
void libc_signals_open_context(const ucontext_t *context);

#endif
