/* SPDX-License-Identifier: MIT */
/* Claim: an engine that UCX tells of events sleeps until there is one, asks for events only inside the gate while there
 * is work and the program goes through it, and looks by itself where UCX has no time for that, or does not tell. */
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../base/claim.h"
#include "base/clock.h"
#include "base/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/strategy.h"
#include "engine/ucx.h"
#include "ucx_stub.h"

enum { EVENTS = 30, PATIENCE_US = 200000, STEP_US = 50, LATE_US = 8000, GUARD_US = 20000 };

/* looks: of the engine at the op. is_over: what it then sees. */
static _Atomic int looks;
static _Atomic bool is_over;
static _Atomic bool goes_on = true;

static bool op_test(struct engine_pending_op *op)
{
    (void)op;
    atomic_fetch_add(&looks, 1);
    return atomic_load(&is_over);
}

static void progress_poll(void)
{
}

static bool program_goes_on(void)
{
    return atomic_load(&goes_on);
}

static bool may_arm(void)
{
    return gate_is_inside() && engine_pending_work() != 0 && atomic_load(&goes_on);
}

static void op_begin(struct engine_pending_op *op)
{
    *op = (struct engine_pending_op){.test = op_test};
    atomic_store(&is_over, false);
    gate_enter();
    engine_add(op);
    gate_leave();
    usleep(STEP_US * 10);
}

static int64_t op_end_us(bool tells)
{
    uint64_t one = 1;
    int64_t begin_ns = base_clock_now_ns();
    atomic_store(&is_over, true);
    claim(!tells || write(ucx_stub.descriptor, &one, sizeof one) == sizeof one, "an event");
    while (engine_pending() != 0 && base_clock_now_ns() - begin_ns < PATIENCE_US * INT64_C(1000))
        usleep(STEP_US);
    claim(engine_pending() == 0, "the op is over");
    return (base_clock_now_ns() - begin_ns) / 1000;
}

static int count_soon(bool is_busy)
{
    int soon = 0;
    ucx_stub.is_busy = is_busy;
    for (int i = 0; i < EVENTS; i++) {
        struct engine_pending_op op;
        op_begin(&op);
        soon += op_end_us(!is_busy) < LATE_US;
        usleep(STEP_US * 10);
    }
    return soon;
}

/* What an engine that sleeps then does within a quarter of what it sleeps at most. */
typedef void rouse_fn(struct engine_pending_op *more);

static bool is_roused_by(rouse_fn *rouse)
{
    struct engine_pending_op op, more;
    op_begin(&op);
    usleep(GUARD_US / 4);
    int before = atomic_load(&looks);
    rouse(&more);
    usleep(GUARD_US / 4);
    bool has_looked = atomic_load(&looks) != before;
    atomic_store(&engine_pending_state.waiters, 0);
    op_end_us(true);
    return has_looked;
}

static int count_roused_by(rouse_fn *rouse)
{
    int roused = 0;
    for (int i = 0; i < EVENTS; i++)
        roused += is_roused_by(rouse);
    return roused;
}

static void do_nothing(struct engine_pending_op *more)
{
    (void)more;
}

static void begin_more(struct engine_pending_op *more)
{
    op_begin(more);
}

static void begin_to_wait(struct engine_pending_op *more)
{
    (void)more;
    atomic_store(&engine_pending_state.waiters, 1);
    engine_wake();
}

static void check_rest(void)
{
    claim(count_roused_by(do_nothing) < EVENTS / 2, "mostly it sleeps while nothing happens");
    claim(count_roused_by(begin_more) > EVENTS / 2, "more work ends the sleep");
    claim(count_roused_by(begin_to_wait) > EVENTS / 2, "somebody who waits does");
}

static void check_gone_past(void)
{
    struct engine_pending_op op;
    atomic_store(&goes_on, false);
    op_begin(&op);
    op_end_us(false);
    atomic_store(&goes_on, true);
}

static void check_mute(void)
{
    for (int i = 0; i < EVENTS && !engine_strategy_is_polling(); i++) {
        struct engine_pending_op op;
        op_begin(&op);
        op_end_us(false);
    }
    claim(engine_strategy_is_polling(), "it polls where ops end without an event");
}

int main(void)
{
    void *context, *worker;
    const uint64_t params[] = {1, UCX_STUB_TAG};
    ucx_stub.descriptor = eventfd(0, EFD_NONBLOCK);
    ucx_stub.may_arm = may_arm;
    options.progress = OPTION_PROGRESS_EVENT;
    engine_ucx_expect(true);
    ucp_init_version(1, 13, params, NULL, &context);
    ucp_worker_create(context, NULL, &worker);
    engine_ucx_expect(false);
    engine_ucx_settle(true);
    engine_configure(
        OPTION_PROGRESS_EVENT, true,
        (struct engine_hooks){.touch_descriptor = -1, .progress = progress_poll, .goes_on = program_goes_on});
    claim(engine_start(), "there is a thread for the engine");
    claim(count_soon(false) > EVENTS / 2, "most events end ops at once");
    claim(count_soon(true) > EVENTS / 2, "while UCX has no time the engine looks often");
    ucx_stub.is_busy = false;
    check_rest();
    check_gone_past();
    claim(ucx_stub.asked > EVENTS && ucx_stub.arms_wrongly == 0,
          "asked in the gate, with work, by a program that goes on");
    check_mute();
    engine_stop();
    return 0;
}
