/* SPDX-License-Identifier: MIT */
/* Claim: one thread at a time is inside a closed gate, however deep, and an open one counts who is. */
#include <pthread.h>

#include "../base/claim.h"
#include "engine/gate.h"

enum { THREADS = 4, ROUNDS = 20000 };

static int inside; /* plain: the gate is what keeps it whole */

static void *thread_run(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        gate_enter();
        gate_enter(); /* MPI calls back into the program */
        inside++;
        gate_leave();
        claim(gate_is_inside(), "still inside");
        gate_leave();
        claim(!gate_is_inside(), "outside again");
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    gate_share(false);
    for (int i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, NULL) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    claim(inside == THREADS * ROUNDS, "no visit was lost");
    gate_share(true);
    gate_enter();
    claim(gate_others_inside() == 0, "this thread is not counted");
    gate_leave();
    return 0;
}
