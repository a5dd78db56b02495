/* SPDX-License-Identifier: MIT */
/* Claim: what the engine has done so far, and how it progresses, can be read while it runs and after it has ended. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "../base/claim.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/strategy.h"

enum { PATIENCE_US = 5000000, STEP_US = 1000 };

static void progress_poll(void)
{
}

static bool is_counted(void)
{
    for (int waited_us = 0; waited_us < PATIENCE_US; waited_us += STEP_US) {
        struct engine_totals totals = engine_totals_read();
        if (totals.cpu_ns > 0 && totals.wakeups > 0)
            return true;
        usleep(STEP_US);
    }
    return false;
}

int main(void)
{
    engine_configure(OPTION_PROGRESS_POLL, true,
                     (struct engine_hooks){.touch_descriptor = -1, .progress = progress_poll});
    claim(strcmp(engine_strategy_name(), "none") == 0, "no thread has run");
    claim(engine_totals_read().cpu_ns == 0, "nor taken time");
    claim(engine_start(), "there is a thread for the engine");
    gate_enter();
    engine_pending_assist_begin();
    gate_leave();
    claim(is_counted(), "the running engine's time and wake-ups");
    claim(strcmp(engine_strategy_name(), "poll") == 0, "its name while it runs");
    gate_enter();
    engine_pending_assist_end();
    gate_leave();
    struct engine_totals totals = engine_totals_read();
    engine_stop();
    claim(engine_totals_read().cpu_ns >= totals.cpu_ns, "the time is kept");
    claim(engine_totals_read().wakeups >= totals.wakeups, "and the wake-ups");
    claim(strcmp(engine_strategy_name(), "poll") == 0, "and the name");
    return 0;
}
