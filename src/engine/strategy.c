/* SPDX-License-Identifier: MIT */
#include "engine/strategy.h"

#include <stdatomic.h>

#include "engine/pending.h"
#include "engine/sockets.h"
#include "engine/ucx.h"

/* Sleeps between two polls: of an engine that waits for events, one that never stops, one that polls by request. */
enum { GUARD_NS = 20000000, POLL_SHORTEST_NS = 20000, POLL_LONGEST_NS = 1000000, MANUAL_SLEEP_NS = 1000000000 };
enum { GUARD_MISSES_MAX = 2 };

/* wish, has_silent_peers: before the engine starts. mode: engine thread; any thread
 * reads. The others: engine thread. */
static struct {
    enum option_progress wish;
    bool has_silent_peers;
    _Atomic enum option_progress mode; /* auto: not chosen yet; never off */
    int64_t sleep_ns;
    int guard_misses;       /* more than ops that ended at events; never below 0 */
    _Atomic bool hears_ucx; /* else what tells are sockets; any thread reads */
    _Atomic bool is_armed;  /* will tell of the next event; any thread clears it that begins work */
} strategy = {.mode = OPTION_PROGRESS_AUTO};

static const char *const names[] = {
    [OPTION_PROGRESS_AUTO] = "none",     [OPTION_PROGRESS_EVENT] = "event",         [OPTION_PROGRESS_POLL] = "poll",
    [OPTION_PROGRESS_MANUAL] = "manual", [OPTION_PROGRESS_DEDICATED] = "dedicated",
};

void engine_strategy_configure(enum option_progress wish, bool has_silent_peers)
{
    strategy.wish = wish;
    strategy.has_silent_peers = has_silent_peers;
}

static enum option_progress strategy_mode(void)
{
    return atomic_load_explicit(&strategy.mode, memory_order_relaxed);
}

static void strategy_listen_to_ucx(void)
{
    engine_sockets_watch_ucx(engine_ucx_descriptor());
    atomic_store_explicit(&strategy.hears_ucx, true, memory_order_relaxed);
}

void engine_strategy_choose(void)
{
    /* What comes from silent peers wakes nobody who sleeps on sockets. */
    bool is_eventful = !strategy.has_silent_peers && engine_sockets_count() != 0;
    enum option_progress fitting = is_eventful ? OPTION_PROGRESS_EVENT : OPTION_PROGRESS_POLL;
    bool is_free = strategy.wish == OPTION_PROGRESS_AUTO;
    atomic_store_explicit(&strategy.mode, is_free ? fitting : strategy.wish, memory_order_relaxed);
    if (strategy_mode() == OPTION_PROGRESS_EVENT && engine_ucx_descriptor() >= 0)
        strategy_listen_to_ucx();
    engine_strategy_back_off(true);
}

const char *engine_strategy_name(void)
{
    return names[strategy_mode()];
}

/* Before the first op, too, when nothing is chosen yet, it is known that silent peers wake nobody. */
bool engine_strategy_is_polling(void)
{
    if (strategy_mode() == OPTION_PROGRESS_AUTO)
        return strategy.wish == OPTION_PROGRESS_AUTO && strategy.has_silent_peers;
    return strategy_mode() == OPTION_PROGRESS_POLL || strategy_mode() == OPTION_PROGRESS_DEDICATED;
}

bool engine_strategy_is_idle(void)
{
    return strategy_mode() == OPTION_PROGRESS_MANUAL && !engine_pending_is_awaited();
}

bool engine_strategy_hears_ucx(void)
{
    return atomic_load_explicit(&strategy.hears_ucx, memory_order_relaxed);
}

/* seq_cst, here and where it is asked: who begins work clears it and then looks whether the engine sleeps, which says
 * that it does before it asks (engine_sleep()). */
void engine_strategy_note_armed(bool is_armed)
{
    atomic_store_explicit(&strategy.is_armed, is_armed, memory_order_seq_cst);
}

static bool strategy_is_armed(void)
{
    return atomic_load_explicit(&strategy.is_armed, memory_order_seq_cst);
}

static bool strategy_is_told(void)
{
    return !engine_strategy_is_polling() && (!engine_strategy_hears_ucx() || strategy_is_armed());
}

bool engine_strategy_never_sleeps(void)
{
    bool is_silent = engine_strategy_is_polling() || engine_strategy_hears_ucx();
    return is_silent && engine_pending_is_awaited();
}

/* The end of what is assisted is not judged, and of messages that follow from one another the next may have begun at
 * the last look, without an event: neither may wait for long. */
static int64_t strategy_guard_ns(void)
{
    return engine_strategy_hears_ucx() && engine_pending_has_schedules() ? POLL_LONGEST_NS : GUARD_NS;
}

bool engine_strategy_is_guard(int64_t timeout_ns)
{
    return timeout_ns == GUARD_NS;
}

int64_t engine_strategy_timeout_ns(void)
{
    if (engine_strategy_is_idle())
        return MANUAL_SLEEP_NS;
    if (strategy_mode() == OPTION_PROGRESS_DEDICATED || engine_strategy_never_sleeps())
        return 0;
    return strategy_is_told() ? strategy_guard_ns() : strategy.sleep_ns;
}

void engine_strategy_back_off(bool has_progressed)
{
    int64_t longer_ns = strategy.sleep_ns + strategy.sleep_ns / 4;
    if (has_progressed)
        strategy.sleep_ns = POLL_SHORTEST_NS;
    else
        strategy.sleep_ns = longer_ns < POLL_LONGEST_NS ? longer_ns : POLL_LONGEST_NS;
}

/* Who asks for events by name keeps those of sockets; UCX's are given up in any case. */
static void strategy_miss(void)
{
    bool may_give_up = strategy.wish == OPTION_PROGRESS_AUTO || engine_strategy_hears_ucx();
    if (++strategy.guard_misses < GUARD_MISSES_MAX || !may_give_up)
        return;
    atomic_store_explicit(&strategy.hears_ucx, false, memory_order_relaxed);
    atomic_store_explicit(&strategy.mode, OPTION_PROGRESS_POLL, memory_order_relaxed);
}

/* An op that ends at an expired guard, and not at an event, was carried by something that is no socket, or the engine
 * got no core in time. Where a few more end so than at events, do not rely on events. */
bool engine_strategy_judge(bool is_timeout, uint32_t ended)
{
    if (strategy_mode() != OPTION_PROGRESS_EVENT)
        return false;
    if (ended != 0 && is_timeout)
        strategy_miss();
    else if (ended != 0 && strategy.guard_misses > 0)
        strategy.guard_misses--;
    return is_timeout;
}
