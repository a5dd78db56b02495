/* SPDX-License-Identifier: MIT */
/* What runs in signal context, and what it shares with the rest. */
#ifndef PROTECT_FAULT_H
#define PROTECT_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "protect/hold.h"

/* A signal's disposition, as sigaction() speaks of it. */
struct fault_disposition {
    uintptr_t handler; /* SIG_DFL, SIG_IGN or a function */
    uint64_t mask;     /* the kernel's signal set */
    uint32_t flags;    /* SA_* */
};

/* Whom to tell about touches. Once, before the first hold. */
void fault_touched_set(protect_hold_touched_fn *touched);

/* Reports the touch of `address` to the ops of all holds there (once each).
 * False when none is there. */
bool fault_report(uintptr_t address);

/* The SIGSEGV handler of the signal backend. */
void fault_handle(int signal_number, siginfo_t *info, void *context);

/* The program's own disposition of SIGSEGV. One writer at a time. */
void fault_disposition_set(const struct fault_disposition *disposition);
void fault_disposition_get(struct fault_disposition *disposition);

/* Inside its handler the program unblocks SIGSEGV. */
void fault_program_opens(void);

/* Where a handler returns to; see restorer.c. */
void protect_signal_return(void);

#endif
