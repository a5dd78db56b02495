/* SPDX-License-Identifier: MIT */
/* Claim: where several threads may be inside the gate, none holds memory while another one is inside whose signals
 * come; who enters later holds them back. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "../base/claim.h"
#include "engine/gate.h"

static volatile int handled;
static pthread_barrier_t step;

static void handle(int number)
{
    (void)number;
    handled++;
}

static void next(void)
{
    pthread_barrier_wait(&step);
}

static void visit_while_held(void)
{
    gate_enter();
    raise(SIGUSR1);
    claim(handled == 1, "the signal waits while another thread holds memory");
    gate_leave();
    usleep(1); /* a thread sanitizer hands signals on at calls of libc alone */
    claim(handled == 2, "and comes then");
}

static void *visit(void *unused)
{
    gate_enter();
    raise(SIGUSR1);
    claim(handled == 1, "signals come while nothing is held");
    next();
    next(); /* somebody would hold memory */
    gate_leave();
    next();
    next(); /* somebody does */
    visit_while_held();
    next();
    return unused;
}

int main(void)
{
    pthread_t thread;
    gate_share(true);
    signal(SIGUSR1, handle);
    pthread_barrier_init(&step, NULL, 2);
    claim(gate_hold_back_signals(), "where nobody handles signals nothing is asked");
    gate_defer_signals();
    claim(pthread_create(&thread, NULL, visit, NULL) == 0, "a thread");
    next();
    gate_enter();
    claim(!gate_hold_back_signals(), "a thread is inside whose signals come");
    gate_leave();
    next();
    next();
    gate_enter();
    claim(gate_hold_back_signals(), "nobody else is");
    claim(gate_hold_back_signals(), "for a second piece of memory, too");
    next();
    next();
    gate_leave();
    pthread_join(thread, NULL);
    return 0;
}
