/* SPDX-License-Identifier: MIT */
/* A trial: is the program itself faster where calls return early, although the prices of the ops do not say so?
 *
 * An op may bring nothing that shows beside itself. A call that returns early lets the next one begin, and messages in
 * both directions cross, also where the program then waits for them at once. The time from call to call has that in
 * it. So a few calls that would wait return early, in blocks, in turn with blocks of calls that wait. Where that time
 * is shorter for certain such calls return early from then on, and are tried again now and then.
 *
 * A process has one trial at a time. Its numbers are hints: a second thread that comes in between spoils one trial. */
#ifndef POLICY_TRIAL_H
#define POLICY_TRIAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls that are tried together. All zero: never tried. Relaxed, by any thread. */
struct trial_subject {
    _Atomic uint32_t calls;  /* that did not pay by themselves, since the last trial */
    _Atomic uint16_t trials; /* so far */
    _Atomic bool is_faster;  /* by returning early, as the last one has shown */
};

/* One of those calls. thread: any address that tells threads apart. pays: what the prices say. worth_ns: the
 * most that returning early can bring; 0: nothing, or it is unknown. */
struct trial_call {
    struct trial_subject *subject;
    const void *thread;
    int64_t now_ns;
    int64_t worth_ns;
    bool pays;
};

/* Shall the call return early? */
bool trial_answer(const struct trial_call *call);

#endif
