/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/futex.h"
#include "base/lock.h"
#include "engine/gate.h"
#include "engine/schedule.h"
#include "engine/sockets.h"

enum { NS_PER_US = 1000, GUARD_MISSES_MAX = 2, LOOKS_PER_EVENT = 4 };
enum { BULK_BYTES = 16384, REST_PART = 16, REST_LONGEST_US = 400, SLEEP_LONG_US = 200 };

_Atomic uint32_t engine_waiters;
_Atomic uint32_t engine_pending_count; /* also the futex that a parked engine sleeps on */

/* list, list_lock: whoever holds the lock. is_running, thread, mode: the thread
 * that submits, under list_lock. is_stopping: written by engine_stop(). sleep_ns
 * to totals: engine thread; totals are read after it has ended. */
static struct {
    enum option_progress wish;
    bool has_local_peers;
    struct engine_hooks hooks;

    struct base_lock list_lock;
    struct engine_op *list;

    bool is_running;
    pthread_t thread;
    cpu_set_t processors;
    int wake_descriptor;
    _Atomic bool is_stopping;
    _Atomic bool is_asleep;
    _Atomic bool is_polling;

    int64_t sleep_ns;
    int64_t busy_since_ns; /* when the engine last left its parking place */
    int64_t slept_ns;      /* how long the last sleep was */
    bool is_bulk;          /* the last wake-up found much to take in */
    int guard_misses;
    struct engine_totals totals;
} engine = {.wake_descriptor = -1, .hooks.touch_descriptor = -1};

void engine_configure(enum option_progress progress, bool has_local_peers, struct engine_hooks hooks)
{
    engine.wish = progress;
    engine.has_local_peers = has_local_peers;
    engine.hooks = hooks;
    /* Not the submitting thread's mask: a runtime may have bound that one to a
     * single core by then. */
    sched_getaffinity(0, sizeof engine.processors, &engine.processors);
}

uint32_t engine_poll(void)
{
    uint32_t ended = 0;
    if (engine_pending() == 0 || !base_lock_try(&engine.list_lock))
        return 0;
    for (struct engine_op **link = &engine.list; *link != NULL;) {
        struct engine_op *op = *link;
        struct engine_op *next = op->next;
        if (op->test(op)) {
            *link = next;
            ended++;
        } else {
            link = &op->next;
        }
    }
    /* release: pairs with engine_pending(). */
    atomic_fetch_sub_explicit(&engine_pending_count, ended, memory_order_release);
    base_lock_release(&engine.list_lock);
    return ended;
}

void engine_wake(void)
{
    uint64_t one = 1;
    int saved_errno = errno;
    /* relaxed: a wake that is lost because the engine was about to sleep costs
     * one guard interval; nothing depends on it for being right. */
    if (engine.wake_descriptor >= 0 && atomic_load_explicit(&engine.is_asleep, memory_order_relaxed))
        (void)!syscall(SYS_write, engine.wake_descriptor, &one, sizeof one);
    errno = saved_errno;
}

/* Whoever else has the lock gives it back soon; the frame that this handler
 * interrupted never does, and then nobody can take it any more either. */
void engine_freeze(void)
{
    enum { TRIES_MAX = 1000 };
    for (int i = 0; i < TRIES_MAX && !base_lock_try(&engine.list_lock); i++)
        sched_yield();
}

static void engine_wake_read(void)
{
    uint64_t count;
    (void)!syscall(SYS_read, engine.wake_descriptor, &count, sizeof count);
}

static void engine_choose_mode(void)
{
    /* Peers on this host are reached through shared memory, which wakes nobody. */
    bool is_polling = engine.wish == OPTION_PROGRESS_POLL ||
                      (engine.wish == OPTION_PROGRESS_AUTO && (engine.has_local_peers || engine_sockets_count() == 0));
    atomic_store_explicit(&engine.is_polling, is_polling, memory_order_relaxed);
}

static bool engine_is_polling(void)
{
    return atomic_load_explicit(&engine.is_polling, memory_order_relaxed);
}

static bool engine_is_awaited(void)
{
    return atomic_load_explicit(&engine_waiters, memory_order_relaxed) != 0;
}

static int64_t engine_timeout_ns(void)
{
    if (engine_is_polling() && engine_is_awaited())
        return 0;
    return engine_is_polling() ? engine.sleep_ns : (int64_t)options.event_guard_us * NS_PER_US;
}

static void engine_back_off(bool has_progressed)
{
    int64_t longest_ns = (int64_t)options.poll_max_us * NS_PER_US;
    if (has_progressed)
        engine.sleep_ns = (int64_t)options.poll_min_us * NS_PER_US;
    else
        engine.sleep_ns =
            engine.sleep_ns + engine.sleep_ns / 4 < longest_ns ? engine.sleep_ns + engine.sleep_ns / 4 : longest_ns;
}

/* An op that ends at an expired timer, and not at an event, was carried by
 * something that is no socket. After a few of them, do not rely on events. */
static void engine_judge_events(unsigned events, uint32_t ended)
{
    if (engine_is_polling() || events != ENGINE_EVENT_NONE)
        return;
    engine.totals.guard_wakeups++;
    if (ended != 0 && ++engine.guard_misses >= GUARD_MISSES_MAX && engine.wish == OPTION_PROGRESS_AUTO)
        atomic_store_explicit(&engine.is_polling, true, memory_order_relaxed);
}

/* One test may only take a message in and leave the answer to the next (UCX
 * queues it): an event is worth a few looks, or the transfer would sit still
 * until something else wakes the engine. Seen with MPICH 4.0: 128 KiB took 3 ms
 * instead of 0.7. */
static uint32_t engine_look(void)
{
    uint32_t ended = 0;
    uint32_t looks = engine.is_bulk ? LOOKS_PER_EVENT : 0;
    do {
        gate_wait_for_turn(engine_timeout_ns());
        gate_enter();
        ended += engine_poll();
        gate_leave();
        looks++;
    } while (engine_pending() != 0 && (engine_sockets_unread() || looks < LOOKS_PER_EVENT));
    engine.totals.wakeups++;
    return ended;
}

static unsigned engine_sleep(void)
{
    int64_t begin_ns = base_clock_now_ns();
    atomic_store_explicit(&engine.is_asleep, true, memory_order_relaxed);
    unsigned events = engine_sockets_sleep(engine_timeout_ns());
    engine.slept_ns = base_clock_now_ns() - begin_ns;
    atomic_store_explicit(&engine.is_asleep, false, memory_order_relaxed);
    if (events & ENGINE_EVENT_WAKE)
        engine_wake_read();
    if (events & ENGINE_EVENT_TOUCH)
        engine.hooks.touches_read();
    return events;
}

/* A message that flows at some Gb/s wakes its receiver every 100 us for a third
 * of that time. While nobody waits for it, let more gather: a part of the time
 * that the ops have taken so far, so that short ones are not held up. */
static void engine_rest(void)
{
    int64_t longest_ns = (base_clock_now_ns() - engine.busy_since_ns) / REST_PART;
    if (!engine.is_bulk || engine.slept_ns > SLEEP_LONG_US * NS_PER_US || engine_is_awaited())
        return;
    if (longest_ns > REST_LONGEST_US * NS_PER_US)
        longest_ns = REST_LONGEST_US * NS_PER_US;
    atomic_store_explicit(&engine.is_asleep, true, memory_order_relaxed);
    engine_sockets_rest(engine.hooks.touch_descriptor, engine.wake_descriptor, longest_ns);
    atomic_store_explicit(&engine.is_asleep, false, memory_order_relaxed);
}

static void engine_park(void)
{
    while (engine_pending() == 0 && !atomic_load_explicit(&engine.is_stopping, memory_order_acquire))
        base_futex_wait(&engine_pending_count, 0, -1);
    engine_back_off(true);
    engine.busy_since_ns = base_clock_now_ns();
    engine.is_bulk = false;
}

static void *engine_main(void *unused)
{
    sched_setaffinity(0, sizeof engine.processors, &engine.processors);
    engine_schedule_promptly();
    for (;;) {
        if (engine_pending() == 0)
            engine_park();
        if (atomic_load_explicit(&engine.is_stopping, memory_order_acquire))
            break;
        engine_rest();
        unsigned events = engine_sleep();
        engine.is_bulk = engine_sockets_waiting_bytes() >= BULK_BYTES;
        uint32_t ended = engine_look();
        engine_judge_events(events, ended);
        engine_back_off(ended != 0 || engine_is_awaited());
        if (engine_is_polling() && engine_is_awaited())
            sched_yield();
    }
    engine.totals.cpu_ns = (uint64_t)base_clock_thread_cpu_ns();
    return NULL;
}

/* All signals stay with the program's threads: a new thread inherits the mask. */
static bool engine_thread_create(void)
{
    sigset_t every;
    sigset_t before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int error = pthread_create(&engine.thread, NULL, engine_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(engine.thread, "lapwing-engine");
    return error == 0;
}

static bool engine_start(void)
{
    engine.wake_descriptor = base_descriptor_own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (engine.wake_descriptor < 0)
        return false;
    engine_sockets_watch(engine.wake_descriptor, ENGINE_EVENT_WAKE);
    engine_sockets_watch(engine.hooks.touch_descriptor, ENGINE_EVENT_TOUCH);
    engine_choose_mode();
    engine_back_off(true);
    return engine_thread_create();
}

bool engine_submit(struct engine_op *op)
{
    base_lock_take(&engine.list_lock);
    if (!engine.is_running)
        engine.is_running = engine_start();
    if (!engine.is_running) {
        base_lock_release(&engine.list_lock);
        return false;
    }
    /* At the end: ops are tested in the order in which they began. */
    struct engine_op **link = &engine.list;
    while (*link != NULL)
        link = &(*link)->next;
    op->next = NULL;
    *link = op;
    /* release: the engine sees the op complete when it sees the count. */
    uint32_t before = atomic_fetch_add_explicit(&engine_pending_count, 1, memory_order_release);
    base_lock_release(&engine.list_lock);
    if (before == 0)
        base_futex_wake(&engine_pending_count, 1);
    return true;
}

void engine_stop(void)
{
    if (!engine.is_running)
        return;
    atomic_store_explicit(&engine.is_stopping, true, memory_order_release);
    /* The futex value does not change: wake until the thread has seen the flag. */
    while (pthread_tryjoin_np(engine.thread, NULL) == EBUSY) {
        base_futex_wake(&engine_pending_count, 1);
        engine_wake();
        sched_yield();
    }
    engine.is_running = false;
    base_descriptor_close(engine.wake_descriptor);
    engine.wake_descriptor = -1;
}

struct engine_totals engine_totals_read(void)
{
    return engine.totals;
}

const char *engine_progress_name(void)
{
    if (!engine.is_running)
        return "none";
    return engine_is_polling() ? "poll" : "event";
}

void engine_forked_child(void)
{
    engine.is_running = false;
    engine.list = NULL;
    engine.wake_descriptor = -1;
    atomic_store_explicit(&engine.list_lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_count, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_waiters, 0, memory_order_relaxed);
    engine_sockets_forked_child();
    gate_forked_child();
}
