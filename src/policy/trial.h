/* SPDX-License-Identifier: MIT */
/* A trial: is the program itself faster where calls return early, although the prices of the ops do not say so?
 *
 * An op may bring nothing that shows beside itself. A call that returns early lets the next one begin, and messages in
 * both directions cross, also where the program then waits for them at once. The time from call to call has that in
 * it. Nor does it show beside the op that its peer waits for longer, because the engine answers later than a call that
 * waits. So a few calls return early, in blocks, in turn with blocks of calls that wait. Where that time is shorter for
 * certain such calls return early from then on, where it is longer they wait, and are tried again now and then.
 *
 * A process has one trial at a time. Its numbers are hints: a second thread that comes in between spoils one trial. */
#ifndef POLICY_TRIAL_H
#define POLICY_TRIAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/differences.h"

/* Calls that are tried together. All zero: never tried. Relaxed, by any thread. */
struct trial_subject {
    _Atomic uint32_t calls;  /* that did not pay, since the last trial */
    _Atomic uint16_t trials; /* so far */
    _Atomic bool is_faster;  /* by the last trial, for certain, if they return early */
};

/* The trial of a process. subject: NULL when none runs; claimed by CAS. asked_ns: its last call. idle_ns: it is over
 * after so long without one. The rest is its thread's. All zero at first. */
struct trial {
    struct trial_subject *_Atomic subject;
    _Atomic int64_t asked_ns;
    _Atomic int64_t idle_ns;
    _Atomic(const void *) thread;
    uint32_t calls;   /* of this round */
    int64_t early_ns; /* this round's calls that returned early took so long, each up to the next */
    int64_t waiting_ns;
    struct differences rounds;
};

/* One of those calls. thread: any address that tells threads apart. worth_ns: the most that returning early can bring;
 * 0: nothing, or it is unknown. pays: by its prices. */
struct trial_call {
    struct trial_subject *subject;
    const void *thread;
    int64_t now_ns;
    int64_t worth_ns;
    bool pays;
};

/* Shall the call return early? */
bool trial_answer(struct trial *trial, const struct trial_call *call);

/* The same, by what is known already. */
bool trial_knows(const struct trial_call *call);

#endif
