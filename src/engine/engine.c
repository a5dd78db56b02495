/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/descriptors.h"
#include "base/futex.h"
#include "base/lock.h"
#include "engine/gate.h"
#include "engine/schedule.h"
#include "engine/sockets.h"

enum { NS_PER_US = 1000, GUARD_MISSES_MAX = 2, LOOKS_PER_EVENT = 4, LOOKS_OF_SCHEDULE = 2 };
enum {
    SETTLE_US = 100,
    SETTLE_OPS_US = 40,
    SETTLE_LONGEST_US = 1000,
    NAP_FIRST_US = 100,
    NAP_LONGEST_US = 2000,
    MANUAL_SLEEP_NS = 1000000000
};
enum { BULK_BYTES = 16384, REST_PART = 16, REST_LONGEST_US = 400, SLEEP_LONG_US = 200 };

_Atomic uint32_t engine_waiters;
_Atomic uint32_t engine_pending_count;

/* list, list_lock: whoever holds the lock. is_running, thread: the thread that
 * submits or begins to be assisted, under list_lock. work: ops and assisted
 * operations, the futex that a parked engine sleeps on. is_stopping: written by
 * engine_stop(). mode: at the start, and by the engine thread. sleep_ns to
 * totals: engine thread; totals are read after it has ended. */
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
    _Atomic enum option_progress mode; /* never auto or off */
    _Atomic uint32_t work;
    _Atomic uint32_t assisted;
    _Atomic int64_t begun_last_ns; /* when the last op, or operation to assist, began */

    int64_t nap_ns;             /* the program was inside MPI: leave it alone for a while */
    int64_t unsettled_since_ns; /* when the engine first let the program begin more; 0: it does not */
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
    /* Cores that the program gave up (lib/dedicate.c), else its own; not the
     * submitting thread's mask: a runtime may have bound that one to a single
     * core by then. */
    const char *given_up = getenv(BASE_CORES_VARIABLE);
    if (given_up == NULL || !base_cores_parse(given_up, &engine.processors))
        sched_getaffinity(0, sizeof engine.processors, &engine.processors);
}

static _Thread_local bool is_engine_thread;

static uint32_t engine_work(void)
{
    /* acquire: pairs with whoever submits or begins. */
    return atomic_load_explicit(&engine.work, memory_order_acquire);
}

/* The engine may be asleep in epoll when the program ends the last of its work: it
 * must not be woken by the program's next messages, least of all where ranks
 * measure time by them. Seen: every MPI_Barrier after an overlapped exchange was
 * left 30 us later by one rank than by the other, and Open MPI then sent two
 * messages of 4 MiB that cross one after the other. */
static void engine_work_end(uint32_t number)
{
    /* seq_cst: either we see what began meanwhile, or its beginner comes after our
     * deafening and undoes it. */
    bool is_last = atomic_fetch_sub_explicit(&engine.work, number, memory_order_seq_cst) == number;
    if (number == 0 || !is_last || is_engine_thread)
        return;
    engine_sockets_listen(false);
    if (engine_work() != 0)
        engine_sockets_listen(true);
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
    engine_work_end(ended);
    return ended;
}

bool engine_assists(void)
{
    /* relaxed: exact inside the gate, where alone it ends; a hint elsewhere. */
    return atomic_load_explicit(&engine.assisted, memory_order_relaxed) != 0;
}

uint32_t engine_progress(void)
{
    uint32_t ended = engine_poll();
    if (engine_assists())
        engine.hooks.poke();
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

static void engine_choose_mode(void)
{
    /* Peers on this host are reached through shared memory, which wakes nobody. */
    bool is_eventful = !engine.has_local_peers && engine_sockets_count() != 0;
    enum option_progress fitting = is_eventful ? OPTION_PROGRESS_EVENT : OPTION_PROGRESS_POLL;
    bool is_free = engine.wish == OPTION_PROGRESS_AUTO;
    atomic_store_explicit(&engine.mode, is_free ? fitting : engine.wish, memory_order_relaxed);
}

static enum option_progress engine_mode(void)
{
    return atomic_load_explicit(&engine.mode, memory_order_relaxed);
}

static bool engine_is_polling(void)
{
    return engine_mode() == OPTION_PROGRESS_POLL || engine_mode() == OPTION_PROGRESS_DEDICATED;
}

static bool engine_is_awaited(void)
{
    return atomic_load_explicit(&engine_waiters, memory_order_relaxed) != 0;
}

/* Only for touches and for who calls engine_progress(). */
static bool engine_is_idle(void)
{
    return engine_mode() == OPTION_PROGRESS_MANUAL && !engine_is_awaited();
}

static int64_t engine_timeout_ns(void)
{
    if (engine_is_idle())
        return MANUAL_SLEEP_NS;
    if (engine_mode() == OPTION_PROGRESS_DEDICATED || (engine_is_polling() && engine_is_awaited()))
        return 0;
    if (engine_mode() == OPTION_PROGRESS_TIMER)
        return (int64_t)options.timer_us * NS_PER_US;
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
    if (engine_mode() != OPTION_PROGRESS_EVENT || events != ENGINE_EVENT_NONE)
        return;
    engine.totals.guard_wakeups++;
    if (ended != 0 && ++engine.guard_misses >= GUARD_MISSES_MAX && engine.wish == OPTION_PROGRESS_AUTO)
        atomic_store_explicit(&engine.mode, OPTION_PROGRESS_POLL, memory_order_relaxed);
}

/* Until the program has begun all that belongs together: a look between its
 * MPI_Irecv and its MPI_Isend, or between two calls of MPI_Sendrecv, may accept a
 * message whose data then goes out before what the program has yet to announce
 * (one socket for both ways). Seen: two messages of 4 MiB that cross took 69 ms
 * instead of 35. */
static int64_t engine_unsettled_ns(int64_t settle_us)
{
    int64_t last_ns = atomic_load_explicit(&engine.begun_last_ns, memory_order_relaxed);
    return last_ns + settle_us * NS_PER_US - base_clock_now_ns();
}

static int64_t engine_longer_nap_ns(void)
{
    int64_t next_ns = engine.nap_ns < NAP_FIRST_US * NS_PER_US ? NAP_FIRST_US * NS_PER_US : engine.nap_ns * 2;
    return next_ns < NAP_LONGEST_US * NS_PER_US ? next_ns : NAP_LONGEST_US * NS_PER_US;
}

/* A program that is inside MPI does the work itself: come back later, ever later
 * while it stays there. Otherwise every message that it waits for would wake
 * this thread too. */
static bool engine_come_in_to_assist(void)
{
    int64_t unsettled_ns = engine_unsettled_ns(SETTLE_US);
    if (unsettled_ns > 0)
        engine.nap_ns = unsettled_ns;
    else if (gate_try_enter())
        engine.nap_ns = 0;
    else
        engine.nap_ns = engine_longer_nap_ns();
    return gate_is_inside();
}

/* A program that begins ops without end is not waited for any longer. */
static bool engine_has_settled_long(void)
{
    int64_t now_ns = base_clock_now_ns();
    if (engine.unsettled_since_ns == 0)
        engine.unsettled_since_ns = now_ns;
    return now_ns - engine.unsettled_since_ns > SETTLE_LONGEST_US * NS_PER_US;
}

/* A shorter while than for the program's own operations (100 us were no better): an op
 * is held inside the gate, so that time does not count, and a peer may wait for us. */
static bool engine_is_early(void)
{
    if (engine_unsettled_ns(SETTLE_OPS_US) > 0 && !engine_is_awaited())
        return !engine_has_settled_long();
    engine.unsettled_since_ns = 0;
    return false;
}

/* Deaf to the sockets; a touch or a wake ends it. */
static void engine_doze(int64_t timeout_ns)
{
    atomic_store_explicit(&engine.is_asleep, true, memory_order_relaxed);
    engine_sockets_rest(engine.hooks.touch_descriptor, engine.wake_descriptor, timeout_ns);
    atomic_store_explicit(&engine.is_asleep, false, memory_order_relaxed);
}

static void engine_wake_read(void)
{
    uint64_t count;
    (void)!syscall(SYS_read, engine.wake_descriptor, &count, sizeof count);
}

/* What may have ended a doze; neither read waits. */
static void engine_notice(void)
{
    engine_wake_read();
    if (engine.hooks.touch_descriptor >= 0)
        engine.hooks.touches_read();
}

/* What the sockets told is kept meanwhile. */
static void engine_settle(void)
{
    while (engine_is_early()) {
        engine_doze(engine_unsettled_ns(SETTLE_OPS_US));
        engine_notice();
    }
}

/* The program may begin an op while it has the gate: ask again inside. */
static void engine_come_in_for_ops(void)
{
    gate_enter();
    while (engine_is_early()) {
        gate_leave();
        engine_settle();
        gate_enter();
    }
    engine.nap_ns = 0;
}

static bool engine_come_in(void)
{
    gate_wait_for_turn(engine_timeout_ns());
    if (engine_pending() != 0)
        engine_settle();
    if (engine_pending() == 0) /* or no longer */
        return engine_come_in_to_assist();
    engine_come_in_for_ops();
    return true;
}

/* One test may only take a message in and leave the answer to the next (UCX
 * queues it): an event is worth a few looks, or the transfer would sit still
 * until something else wakes the engine. Seen with MPICH 4.0: 128 KiB took 3 ms
 * instead of 0.7. */
static uint32_t engine_looks_due(void)
{
    if (!engine.is_bulk)
        return LOOKS_PER_EVENT;
    /* The look that takes in a round's last data is not the one that begins the next
     * round of a nonblocking collective (Open MPI runs schedules before it reads its
     * sockets), and no event tells of that. */
    return engine_assists() ? LOOKS_OF_SCHEDULE : 1;
}

static uint32_t engine_look(void)
{
    uint32_t ended = 0;
    uint32_t looks = 0;
    uint32_t looks_due = engine_looks_due();
    do {
        if (!engine_come_in())
            break;
        ended += engine_progress();
        gate_leave();
        looks++;
    } while (engine_work() != 0 && (engine_sockets_unread() || looks < looks_due));
    engine.totals.wakeups++;
    return ended;
}

static unsigned engine_sleep(void)
{
    int64_t begin_ns = base_clock_now_ns();
    int64_t timeout_ns = engine_timeout_ns();
    bool is_deaf = engine_mode() == OPTION_PROGRESS_TIMER || engine_is_idle();
    bool is_nap = is_deaf || engine.nap_ns != 0;
    if (is_nap)
        engine_doze(is_deaf ? timeout_ns : engine.nap_ns);
    atomic_store_explicit(&engine.is_asleep, true, memory_order_relaxed);
    /* After a nap look in any case: its cause may have kept an event from being served. */
    unsigned events = engine_sockets_sleep(is_nap ? 0 : timeout_ns) | (is_nap ? ENGINE_EVENT_NAP : 0);
    engine.slept_ns = base_clock_now_ns() - begin_ns;
    if (engine.slept_ns > SETTLE_LONGEST_US * NS_PER_US)
        engine.unsettled_since_ns = 0; /* what the program begins now is something else */
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
    engine_doze(longest_ns);
}

static void engine_park(void)
{
    while (engine_work() == 0 && !atomic_load_explicit(&engine.is_stopping, memory_order_acquire))
        base_futex_wait(&engine.work, 0, -1);
    engine_back_off(true);
    engine.nap_ns = engine_pending() == 0 ? SETTLE_US * NS_PER_US : 0;
    engine.busy_since_ns = base_clock_now_ns();
    engine.unsettled_since_ns = 0;
    engine.is_bulk = false;
}

static void *engine_main(void *unused)
{
    is_engine_thread = true;
    sched_setaffinity(0, sizeof engine.processors, &engine.processors);
    engine_schedule_promptly();
    for (;;) {
        if (engine_work() == 0)
            engine_park();
        if (atomic_load_explicit(&engine.is_stopping, memory_order_acquire))
            break;
        engine_rest();
        unsigned events = engine_sleep();
        engine.is_bulk = engine_sockets_waiting_bytes() >= BULK_BYTES;
        uint32_t ended = engine_is_idle() ? 0 : engine_look();
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
    gate_depth++; /* as MPI's own threads: the program has not become one with several (libc/threads.c) */
    int error = pthread_create(&engine.thread, NULL, engine_main, NULL);
    gate_depth--;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(engine.thread, "lapwing-engine");
    return error == 0;
}

static bool engine_start(void)
{
    engine.wake_descriptor = base_descriptor_own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (engine.wake_descriptor < 0 || !engine_sockets_open())
        return false;
    engine_sockets_watch(engine.wake_descriptor, ENGINE_EVENT_WAKE);
    engine_sockets_watch(engine.hooks.touch_descriptor, ENGINE_EVENT_TOUCH);
    engine_choose_mode();
    engine_back_off(true);
    return engine_thread_create();
}

static void engine_work_add(void)
{
    /* relaxed: ordered by `work`. */
    atomic_store_explicit(&engine.begun_last_ns, base_clock_now_ns(), memory_order_relaxed);
    /* seq_cst: see engine_work_end(); and the engine sees what was begun when it sees the number. */
    if (atomic_fetch_add_explicit(&engine.work, 1, memory_order_seq_cst) != 0)
        return;
    engine_sockets_listen(true);
    base_futex_wake(&engine.work, 1);
}

/* Under the list lock. */
static bool engine_is_or_becomes_running(void)
{
    if (!engine.is_running)
        engine.is_running = engine_start();
    return engine.is_running;
}

bool engine_submit(struct engine_op *op)
{
    base_lock_take(&engine.list_lock);
    if (!engine_is_or_becomes_running()) {
        base_lock_release(&engine.list_lock);
        return false;
    }
    /* At the end: ops are tested in the order in which they began. */
    struct engine_op **link = &engine.list;
    while (*link != NULL)
        link = &(*link)->next;
    op->next = NULL;
    *link = op;
    atomic_fetch_add_explicit(&engine_pending_count, 1, memory_order_release); /* pairs with engine_pending() */
    base_lock_release(&engine.list_lock);
    engine_work_add();
    return true;
}

bool engine_assist_begin(void)
{
    base_lock_take(&engine.list_lock);
    bool is_running = engine_is_or_becomes_running();
    base_lock_release(&engine.list_lock);
    if (!is_running)
        return false;
    atomic_fetch_add_explicit(&engine.assisted, 1, memory_order_relaxed); /* ordered by `work` */
    engine_work_add();
    return true;
}

void engine_assist_end(void)
{
    atomic_fetch_sub_explicit(&engine.assisted, 1, memory_order_relaxed); /* the gate orders it */
    engine_work_end(1);
}

void engine_stop(void)
{
    if (!engine.is_running)
        return;
    atomic_store_explicit(&engine.is_stopping, true, memory_order_release);
    /* The futex value does not change: wake until the thread has seen the flag. */
    while (pthread_tryjoin_np(engine.thread, NULL) == EBUSY) {
        base_futex_wake(&engine.work, 1);
        engine_wake();
        sched_yield();
    }
    engine.is_running = false;
    base_descriptor_close(engine.wake_descriptor);
    engine.wake_descriptor = -1;
    engine_sockets_close();
}

struct engine_totals engine_totals_read(void)
{
    return engine.totals;
}

static const char *const mode_names[] = {
    [OPTION_PROGRESS_EVENT] = "event",   [OPTION_PROGRESS_POLL] = "poll",           [OPTION_PROGRESS_TIMER] = "timer",
    [OPTION_PROGRESS_MANUAL] = "manual", [OPTION_PROGRESS_DEDICATED] = "dedicated",
};

const char *engine_progress_name(void)
{
    return engine.is_running ? mode_names[engine_mode()] : "none";
}

void engine_forked_child(void)
{
    engine.is_running = false;
    engine.list = NULL;
    engine.wake_descriptor = -1;
    atomic_store_explicit(&engine.list_lock.state, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_pending_count, 0, memory_order_relaxed);
    atomic_store_explicit(&engine.work, 0, memory_order_relaxed);
    atomic_store_explicit(&engine.assisted, 0, memory_order_relaxed);
    atomic_store_explicit(&engine_waiters, 0, memory_order_relaxed);
    engine_sockets_forked_child();
    gate_forked_child();
}
