/* SPDX-License-Identifier: MIT */
/* What pmi.c asks of libc's entries, beside which it stands. One table, constant, from lib/wiring.c. */
#ifndef JOB_WRITE_HOST_H
#define JOB_WRITE_HOST_H

#include "job/offer.h"

/* now: what they call for libc's write(). call: from now on they call this function instead. */
struct write_host {
    offer_write_fn *(*now)(void);
    void (*call)(offer_write_fn *function);
};

extern const struct write_host write_host;

#endif
