/* SPDX-License-Identifier: MIT */
#include "op/stall.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "engine/gate.h"

/* In one word, so that a stall that begins where another one ends is told apart from it: below, how many stall now;
 * above, the sum of what ended stalls have taken, less the time at which the running one began. The sum wraps, and only
 * differences count. Any thread, also in signal context; relaxed: numbers for judging. */
enum { DEPTH_BITS = 12, DEPTH_MASK = (1 << DEPTH_BITS) - 1, DEPTH_MOST = DEPTH_MASK / 2 };

static struct {
    _Atomic uint64_t state;
} stall;

/* The end of a touch may come before its beginning: then there is one less than none. */
static bool state_is_running(uint64_t state)
{
    uint64_t depth = state & DEPTH_MASK;
    return depth != 0 && depth <= DEPTH_MOST;
}

static uint64_t now_shifted(void)
{
    return (uint64_t)base_clock_now_ns() << DEPTH_BITS;
}

void stall_begin(void)
{
    uint64_t state = atomic_load_explicit(&stall.state, memory_order_relaxed);
    uint64_t next;
    do
        next = state + 1 - ((state & DEPTH_MASK) == 0 ? now_shifted() : 0);
    while (
        !atomic_compare_exchange_weak_explicit(&stall.state, &state, next, memory_order_relaxed, memory_order_relaxed));
}

void stall_end(void)
{
    uint64_t state = atomic_load_explicit(&stall.state, memory_order_relaxed);
    uint64_t next;
    do
        next = state - 1 + ((state & DEPTH_MASK) == 1 ? now_shifted() : 0);
    while (
        !atomic_compare_exchange_weak_explicit(&stall.state, &state, next, memory_order_relaxed, memory_order_relaxed));
}

int64_t stall_total_ns(void)
{
    uint64_t state = atomic_load_explicit(&stall.state, memory_order_relaxed);
    uint64_t sum = state + (state_is_running(state) ? now_shifted() : 0);
    return (int64_t)sum >> DEPTH_BITS;
}

int64_t stall_ran_ns(void)
{
    return base_clock_now_ns() - stall_total_ns();
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
