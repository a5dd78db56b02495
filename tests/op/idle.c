/* SPDX-License-Identifier: MIT */
/* Claim: under MPI_THREAD_MULTIPLE a thread enters without a look at its memory only where nothing is held, being held,
 * or pending; it is inside then, and outside otherwise. */
#include "op/idle.h"

#include <stdatomic.h>

#include "../base/claim.h"
#include "engine/gate.h"
#include "op/arming.h"
#include "op/busy.h"
#include "protect/armed.h"

static void expect_outside(const char *why)
{
    claim(!idle_enter(), why);
    claim(!gate_is_inside(), "it has left");
}

static void expect_inside(const char *why)
{
    claim(idle_enter() && gate_is_inside(), why);
    gate_leave();
}

int main(void)
{
    straight.is_shared = true;
    gate_share(true);
    expect_outside("not before the number that stands for ever");
    busy_raise();
    expect_inside("nothing is pending");
    arming_begin();
    expect_outside("a hold is being armed");
    atomic_fetch_add(&protect_armed_count, 1);
    arming_end();
    expect_outside("it is armed, and its call has not returned");
    atomic_fetch_sub(&protect_armed_count, 1);
    expect_inside("it is gone");
    busy_raise();
    expect_outside("something is pending");
    busy_lower();
    expect_inside("no more");
    gate_enter();
    claim(!idle_enter() && gate_thread.depth == 1, "a function that MPI calls is inside already");
    gate_leave();
    return 0;
}
