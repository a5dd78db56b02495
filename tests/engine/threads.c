/* SPDX-License-Identifier: MIT */
/* Claim: ops that several threads submit are each tested to their end once, by whomever. For the thread sanitizer above
 * all. */
#include <pthread.h>
#include <sched.h>

#include "../base/claim.h"
#include "engine/engine.h"
#include "engine/gate.h"

enum { THREADS = 4, ROUNDS = 300, OPS = 8 };

struct op {
    struct engine_pending_op op; /* first */
    int tests_left;              /* inside the gate */
    int ends;
};

static bool op_test(struct engine_pending_op *given)
{
    struct op *op = (struct op *)given;
    op->ends += --op->tests_left == 0;
    return op->tests_left == 0;
}

static void ops_wait(void)
{
    uint32_t wait = gate_keep_engine_out();
    while (engine_pending() != 0) {
        gate_enter();
        engine_pending_poll();
        gate_leave();
        sched_yield();
    }
    claim(gate_let_engine_in(wait), "the wait is still counted");
}

static void *thread_run(void *unused)
{
    struct op ops[OPS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < OPS; i++) {
            ops[i] = (struct op){.op.test = op_test, .tests_left = 1 + (round + i) % 5};
            gate_enter();
            engine_pending_add(&ops[i].op);
            gate_leave();
        }
        if (round % 3 == 0)
            engine_wake();
        ops_wait();
        gate_enter(); /* who ended the last op has left it */
        for (int i = 0; i < OPS; i++)
            claim(ops[i].ends == 1, "each op ended once");
        gate_leave();
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct engine_hooks hooks = {.touch_descriptor = -1};
    engine_configure(OPTION_PROGRESS_POLL, true, hooks);
    gate_share(false);
    claim(engine_start(), "there is a thread for the engine");
    for (int i = 0; i < THREADS; i++)
        claim(pthread_create(&threads[i], NULL, thread_run, NULL) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    engine_stop();
    claim(engine_pending() == 0, "nothing is left");
    return 0;
}
