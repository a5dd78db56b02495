/* SPDX-License-Identifier: MIT */
#include "engine/strategy.h"

#include <stdatomic.h>

#include "engine/pending.h"
#include "engine/sockets.h"

enum { NS_PER_US = 1000, GUARD_MISSES_MAX = 2, MANUAL_SLEEP_NS = 1000000000 };

/* wish, has_local_peers: before the engine starts. mode: engine thread; any thread
 * reads. The others: engine thread. */
static struct {
    enum option_progress wish;
    bool has_local_peers;
    _Atomic enum option_progress mode; /* auto: not chosen yet; never off */
    int64_t sleep_ns;
    int guard_misses;
} strategy = {.mode = OPTION_PROGRESS_AUTO};

static const char *const names[] = {
    [OPTION_PROGRESS_AUTO] = "none",   [OPTION_PROGRESS_EVENT] = "event",   [OPTION_PROGRESS_POLL] = "poll",
    [OPTION_PROGRESS_TIMER] = "timer", [OPTION_PROGRESS_MANUAL] = "manual", [OPTION_PROGRESS_DEDICATED] = "dedicated",
};

void engine_strategy_configure(enum option_progress wish, bool has_local_peers)
{
    strategy.wish = wish;
    strategy.has_local_peers = has_local_peers;
}

static enum option_progress strategy_mode(void)
{
    return atomic_load_explicit(&strategy.mode, memory_order_relaxed);
}

void engine_strategy_choose(void)
{
    /* Peers on this host are reached through shared memory, which wakes nobody. */
    bool is_eventful = !strategy.has_local_peers && engine_sockets_count() != 0;
    enum option_progress fitting = is_eventful ? OPTION_PROGRESS_EVENT : OPTION_PROGRESS_POLL;
    bool is_free = strategy.wish == OPTION_PROGRESS_AUTO;
    atomic_store_explicit(&strategy.mode, is_free ? fitting : strategy.wish, memory_order_relaxed);
    engine_strategy_back_off(true);
}

const char *engine_strategy_name(void)
{
    return names[strategy_mode()];
}

bool engine_strategy_is_polling(void)
{
    return strategy_mode() == OPTION_PROGRESS_POLL || strategy_mode() == OPTION_PROGRESS_DEDICATED;
}

bool engine_strategy_is_idle(void)
{
    return strategy_mode() == OPTION_PROGRESS_MANUAL && !engine_is_awaited();
}

bool engine_strategy_is_deaf(void)
{
    return strategy_mode() == OPTION_PROGRESS_TIMER || engine_strategy_is_idle();
}

int64_t engine_strategy_timeout_ns(void)
{
    if (engine_strategy_is_idle())
        return MANUAL_SLEEP_NS;
    if (strategy_mode() == OPTION_PROGRESS_DEDICATED || (engine_strategy_is_polling() && engine_is_awaited()))
        return 0;
    if (strategy_mode() == OPTION_PROGRESS_TIMER)
        return (int64_t)options.timer_us * NS_PER_US;
    return engine_strategy_is_polling() ? strategy.sleep_ns : (int64_t)options.event_guard_us * NS_PER_US;
}

void engine_strategy_back_off(bool has_progressed)
{
    int64_t longest_ns = (int64_t)options.poll_max_us * NS_PER_US;
    int64_t longer_ns = strategy.sleep_ns + strategy.sleep_ns / 4;
    if (has_progressed)
        strategy.sleep_ns = (int64_t)options.poll_min_us * NS_PER_US;
    else
        strategy.sleep_ns = longer_ns < longest_ns ? longer_ns : longest_ns;
}

/* An op that ends at an expired timer, and not at an event, was carried by
 * something that is no socket. After a few of them, do not rely on events. */
bool engine_strategy_judge(bool is_timeout, uint32_t ended)
{
    if (strategy_mode() != OPTION_PROGRESS_EVENT || !is_timeout)
        return false;
    if (ended != 0 && ++strategy.guard_misses >= GUARD_MISSES_MAX && strategy.wish == OPTION_PROGRESS_AUTO)
        atomic_store_explicit(&strategy.mode, OPTION_PROGRESS_POLL, memory_order_relaxed);
    return true;
}
