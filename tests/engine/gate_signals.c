/* SPDX-License-Identifier: MIT */
/* Claim: signals that were held back come when their thread has left the gate, and may enter it. */
#include <signal.h>
#include <unistd.h>

#include "../base/claim.h"
#include "engine/gate.h"
#include "engine/pending.h"

static volatile int handled;
static volatile int handled_inside;

static void handle(int number)
{
    (void)number;
    handled++;
    handled_inside += gate_is_inside();
    gate_enter();
    gate_leave();
}

static void visit(void)
{
    gate_enter();
    gate_hold_back_signals();
    gate_hold_back_signals(); /* for a second piece of memory */
    raise(SIGUSR1);
    claim(handled == 0, "the signal waits");
    gate_enter();
    gate_leave();
    claim(handled == 0, "as long as the thread is inside at all");
    gate_leave();
    usleep(1); /* a thread sanitizer hands signals on at calls of libc alone */
}

/* Memory of an operation that is no op. */
static void visit_held(void)
{
    handled = 0;
    gate_enter();
    raise(SIGUSR1);
    claim(handled == 0, "the signal waits while memory is held ahead");
    gate_leave();
    usleep(1);
    claim(handled == 1, "and comes then");
}

int main(void)
{
    gate_share(false);
    signal(SIGUSR1, handle);
    gate_hold_back_signals();
    raise(SIGUSR1);
    claim(handled == 1, "outside nothing is held back");
    handled = 0;
    gate_defer_signals();
    visit();
    claim(handled == 1 && handled_inside == 0, "it comes when the thread has left");
    gate_enter();
    raise(SIGUSR1);
    claim(handled == 2 && handled_inside == 1, "a visit that holds nothing lets signals come");
    gate_leave();
    atomic_fetch_add(&engine_pending_state.held, 1);
    visit_held();
    return 0;
}
