/* SPDX-License-Identifier: MIT */
#include "op/stall.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "engine/gate.h"

/* total: sum of ended stalls; since: start of the running one, 0 when none; depth: threads that stall now. Any
 * thread; relaxed: numbers for judging. */
static struct {
    _Atomic int64_t total_ns;
    _Atomic int64_t since_ns;
    _Atomic uint32_t depth;
} stall;

void stall_begin(void)
{
    if (atomic_fetch_add_explicit(&stall.depth, 1, memory_order_relaxed) == 0)
        atomic_store_explicit(&stall.since_ns, base_clock_now_ns(), memory_order_relaxed);
}

void stall_end(void)
{
    int64_t since_ns = atomic_load_explicit(&stall.since_ns, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&stall.depth, 1, memory_order_relaxed) != 1)
        return;
    atomic_store_explicit(&stall.since_ns, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&stall.total_ns, base_clock_now_ns() - since_ns, memory_order_relaxed);
}

int64_t stall_total_ns(void)
{
    int64_t since_ns = atomic_load_explicit(&stall.since_ns, memory_order_relaxed);
    int64_t running_ns = since_ns == 0 ? 0 : base_clock_now_ns() - since_ns;
    return atomic_load_explicit(&stall.total_ns, memory_order_relaxed) + running_ns;
}

uint32_t stall_wait_begin(void)
{
    stall_begin();
    return gate_keep_engine_out();
}

void stall_wait_end(uint32_t wait)
{
    if (gate_let_engine_in(wait))
        stall_end();
}
