/* SPDX-License-Identifier: MIT */
/* Claim: an engine that works by request alone is at work as soon as somebody waits at a touch, also one that comes
 * while it is about to go to sleep. */
#include <stdatomic.h>
#include <stdbool.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/gate.h"

enum { NS_PER_S = 1000000000, LENGTH_NS = 2000000000, PATIENCE_NS = NS_PER_S / 2, DELAYS = 4000 };

static _Atomic uint32_t looks;

static bool op_test(struct engine_pending_op *op)
{
    (void)op;
    atomic_fetch_add(&looks, 1);
    return false;
}

static void progress_poll(void)
{
}

/* A look that began before may be what is seen: it delays what is to be found out by a round. */
static bool is_looked_at(void)
{
    uint32_t before = atomic_load(&looks);
    int64_t end_ns = base_clock_now_ns() + PATIENCE_NS;
    while (atomic_load(&looks) == before && base_clock_now_ns() < end_ns)
        continue;
    return atomic_load(&looks) != before;
}

static void delay(int length)
{
    for (volatile int i = 0; i < length; i++)
        continue;
}

int main(void)
{
    static struct engine_pending_op op = {.test = op_test};
    engine_configure(OPTION_PROGRESS_MANUAL, true,
                     (struct engine_hooks){.touch_descriptor = -1, .progress = progress_poll});
    claim(engine_start(), "there is a thread for the engine");
    gate_enter();
    engine_pending_add(&op);
    gate_leave();
    int64_t end_ns = base_clock_now_ns() + LENGTH_NS;
    for (int i = 0; base_clock_now_ns() < end_ns; i++) {
        atomic_fetch_add(&engine_pending_state.waiters, 1);
        engine_wake();
        claim(is_looked_at(), "the engine looks while somebody waits");
        atomic_fetch_sub(&engine_pending_state.waiters, 1);
        delay(i * 37 % DELAYS);
    }
    return 0;
}
