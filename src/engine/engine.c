/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/lock.h"
#include "base/room.h"
#include "engine/gate.h"
#include "engine/pace.h"
#include "engine/place.h"
#include "engine/sockets.h"
#include "engine/strategy.h"
#include "engine/ucx.h"

enum engine_state { ENGINE_NOT_STARTED, ENGINE_REFUSED, ENGINE_RUNNING, ENGINE_ENDED };
enum { CLOCK_NONE = CLOCK_REALTIME }; /* no thread's */

/* hooks: before the engine starts. place: see engine/place.h. state, thread, wake_descriptor: the
 * thread that starts the engine, under start_lock, and who stops it. is_stopping:
 * written by engine_stop(). The rest: engine thread. wakeups and its kin: numbers for
 * a report, read by any thread, relaxed. cpu_clock: the thread's while it runs; then
 * cpu_ns says what it took. makes_heap: see engine_heap_make(). */
static struct {
    struct engine_hooks hooks;
    struct engine_place place;

    struct base_lock start_lock;
    enum engine_state state;
    pthread_t thread;
    int wake_descriptor;

    int priority; /* as it was begun with */
    bool is_prompt;

    _Atomic bool is_stopping;
    _Atomic bool is_asleep;
    _Atomic uint64_t wakeups;
    _Atomic uint64_t guard_wakeups;
    _Atomic uint64_t ucx_wakeups;
    _Atomic clockid_t cpu_clock;
    _Atomic uint64_t cpu_ns;
    _Atomic bool makes_heap;
} engine = {.wake_descriptor = -1, .hooks.touch_descriptor = -1};

void engine_configure(enum option_progress progress, bool has_silent_peers, struct engine_hooks hooks)
{
    engine_strategy_configure(progress, has_silent_peers);
    engine.hooks = hooks;
    engine_place_configure(&engine.place);
}

/* An engine that sleeps until UCX tells it is woken; one that is about to looks again first. */
void engine_note_begun(void)
{
    if (!engine_strategy_hears_ucx())
        return;
    engine_strategy_note_armed(false);
    engine_wake();
}

void engine_add(struct engine_pending_op *op)
{
    engine_pending_add(op);
    engine_note_begun();
}

void engine_assist_begin(void)
{
    engine_pending_assist_begin();
    engine_note_begun();
}

uint32_t engine_progress(void)
{
    uint64_t own = gate_take_arithmetic();
    uint32_t ended = engine_pending_poll();
    if (engine_pending_assists())
        engine.hooks.progress();
    gate_give_back_arithmetic(own);
    return ended;
}

/* seq_cst: see engine_sleep(). */
void engine_wake(void)
{
    uint64_t one = 1;
    int saved_errno = errno;
    if (engine.wake_descriptor >= 0 && atomic_load_explicit(&engine.is_asleep, memory_order_seq_cst))
        (void)!syscall(SYS_write, engine.wake_descriptor, &one, sizeof one);
    errno = saved_errno;
}

static void engine_wake_read(void)
{
    uint64_t count;
    (void)!syscall(SYS_read, engine.wake_descriptor, &count, sizeof count);
}

/* Deaf to the sockets, or to what comes in; a touch or a wake ends it. */
static void engine_nap(bool hears_room, int64_t timeout_ns)
{
    engine_sockets_doze(engine.hooks.touch_descriptor, engine.wake_descriptor, hears_room, timeout_ns);
}

/* For so short a while that a wake may be lost (relaxed). */
static void engine_doze(bool hears_room, int64_t timeout_ns)
{
    atomic_store_explicit(&engine.is_asleep, true, memory_order_relaxed);
    engine_nap(hears_room, timeout_ns);
    atomic_store_explicit(&engine.is_asleep, false, memory_order_relaxed);
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
    for (int64_t settle_ns = engine_pace_settle_ns(); settle_ns > 0; settle_ns = engine_pace_settle_ns()) {
        engine_doze(false, settle_ns);
        engine_notice();
    }
}

/* A program that is inside MPI does the work itself: come back later. */
static bool engine_come_in_to_assist(void)
{
    if (engine_pace_has_nap_to_settle())
        return false;
    if (gate_try_enter())
        engine_pace_nap_no_more();
    else
        engine_pace_nap_longer();
    return gate_is_inside();
}

/* The program may begin an op while it has the gate: ask again inside. */
static bool engine_come_in_for_ops(void)
{
    gate_enter();
    while (engine_pace_settle_ns() > 0) {
        gate_leave();
        engine_settle();
        gate_enter();
    }
    engine_pace_nap_no_more();
    return true;
}

static bool engine_come_in(void)
{
    gate_wait_for_turn(engine_strategy_timeout_ns());
    if (engine_pending() != 0)
        engine_settle();
    /* Or no longer. Who waits for memory that is held ahead may be the one that those inside wait for. */
    bool is_needed = engine_pending() != 0 || (engine_pending_held() != 0 && engine_pending_is_awaited());
    return is_needed ? engine_come_in_for_ops() : engine_come_in_to_assist();
}

static void engine_count(_Atomic uint64_t *number)
{
    atomic_fetch_add_explicit(number, 1, memory_order_relaxed);
}

/* Who waits is served without pause, as by MPI's own wait. */
static bool engine_may_listen(void)
{
    return engine_pending_work() != 0 && !engine_pending_is_awaited() && engine.hooks.goes_on();
}

/* Inside the gate. UCX first wants to be polled until it has nothing left to do; where messages queue, that takes long.
 * What came before it was asked is not told (ibv_req_notify_cq(3)), hence the poll at the end. */
static uint32_t engine_listen(void)
{
    enum { TRIES_MAX = 4 };
    uint32_t ended = 0;
    bool is_armed = false;
    for (int i = 0; i < TRIES_MAX && !is_armed && engine_may_listen(); i++) {
        bool is_asked = engine_ucx_arm();
        uint32_t ended_now = engine_progress();
        is_armed = is_asked && ended_now == 0;
        ended += ended_now;
    }
    engine_strategy_note_armed(is_armed);
    return ended;
}

static uint32_t engine_poll(void)
{
    uint32_t ended = 0;
    uint32_t polls = 0;
    uint32_t polls_due = engine_pace_polls_due();
    engine_pace_poll();
    engine_strategy_note_armed(false);
    do {
        if (!engine_come_in())
            break;
        ended += engine_progress();
        if (engine_strategy_hears_ucx() && polls + 1 >= polls_due)
            ended += engine_listen();
        gate_leave();
        polls++;
    } while (engine_pending_work() != 0 && (engine_sockets_unread() || polls < polls_due));
    engine_count(&engine.wakeups);
    return ended;
}

static void engine_gather(void)
{
    int64_t rest_ns = engine_pace_rest_ns();
    if (rest_ns > 0)
        engine_doze(true, rest_ns);
}

/* How long depends on whether anybody waits. Who begins to wait counts himself and then looks whether the engine
 * sleeps, which says that it does before it looks whether he is counted: all four are seq_cst, so that one of the two
 * sees the other. With --progress manual a lost wake would cost a second. */
static unsigned engine_sleep(bool *is_guarded)
{
    int64_t begin_ns = base_clock_now_ns();
    atomic_store_explicit(&engine.is_asleep, true, memory_order_seq_cst);
    int64_t timeout_ns = engine_strategy_timeout_ns();
    *is_guarded = engine_strategy_is_guard(timeout_ns);
    bool is_idle = engine_strategy_is_idle();
    bool is_nap = is_idle || engine_pace_nap_ns() != 0;
    if (is_nap)
        engine_nap(false, is_idle ? timeout_ns : engine_pace_nap_ns());
    /* After a nap poll in any case: its cause may have kept an event from being served. */
    unsigned events = engine_sockets_sleep(is_nap ? 0 : timeout_ns) | (is_nap ? ENGINE_EVENT_NAP : 0);
    atomic_store_explicit(&engine.is_asleep, false, memory_order_relaxed);
    if (events & ENGINE_EVENT_WAKE)
        engine_wake_read();
    if (events & ENGINE_EVENT_TOUCH)
        engine.hooks.touches_read();
    engine_pace_slept(begin_ns, engine_sockets_waiting());
    return events;
}

static bool engine_is_to_stop(void)
{
    return atomic_load_explicit(&engine.is_stopping, memory_order_acquire);
}

static void engine_park(void)
{
    while (engine_pending_work() == 0 && !engine_is_to_stop())
        engine_pending_wait();
    engine_strategy_back_off(true);
    engine_pace_start();
}

/* Asks for the engine to run as soon as it wakes, as far as the system permits (CAP_SYS_NICE or RLIMIT_NICE): sharing a
 * core with the program, it needs little, but at once. Measured (Linux 6.18, 250 Hz, one core per host, 512 KiB at
 * 1 Gb/s, 2 x 4 ms of work): at nice 0 an engine that wakes soon after it slept still owes the program the time that it
 * ran, is not eligible, and waits for the next tick: overlap 0.45 to 0.66. The greater its weight, the smaller the
 * debt: 0.74 at nice -5, 0.84 at -10, 0.87 at -20, and 0.87 with SCHED_FIFO. A shorter slice (sched_setattr) does not
 * help.
 * Not while it runs without pause. Where the system shares processors among groups (sessions, containers), it gives a
 * group's share to those processors where the group's weight is, 87 times as much at nice -20 as at 0. A rank on
 * another core then got some 2 % of it beside other groups' threads: a scatter of 200 MiB took 19 s instead of 1. */
static void engine_run_promptly(bool is_prompt)
{
    enum { HIGHEST_PRIORITY = -20, CALLING_THREAD = 0 };
    /* On Linux a priority is a thread's own (setpriority(2), "C library/kernel differences"). */
    if (engine.is_prompt != is_prompt)
        setpriority(PRIO_PROCESS, CALLING_THREAD, is_prompt ? HIGHEST_PRIORITY : engine.priority);
    engine.is_prompt = is_prompt;
}

/* Sleeps, and polls MPI. */
static void engine_turn(void)
{
    engine_run_promptly(engine_strategy_timeout_ns() != 0);
    engine_gather();
    bool is_guarded;
    unsigned events = engine_sleep(&is_guarded);
    int64_t awake_ns = engine.hooks.polled == NULL ? 0 : base_clock_now_ns();
    uint32_t ended = engine_strategy_is_idle() ? 0 : engine_poll();
    if (engine.hooks.polled != NULL)
        engine.hooks.polled(awake_ns, base_clock_now_ns());
    if (events & ENGINE_EVENT_UCX)
        engine_count(&engine.ucx_wakeups);
    if (is_guarded && engine_strategy_judge(events == ENGINE_EVENT_NONE, ended))
        engine_count(&engine.guard_wakeups);
    engine_strategy_back_off(ended != 0 || engine_pending_is_awaited());
    if (engine_strategy_never_sleeps())
        sched_yield();
}

static void engine_clock_open(void)
{
    clockid_t own;
    if (pthread_getcpuclockid(pthread_self(), &own) == 0)
        atomic_store_explicit(&engine.cpu_clock, own, memory_order_relaxed);
}

static void engine_clock_close(void)
{
    atomic_store_explicit(&engine.cpu_ns, (uint64_t)base_clock_thread_cpu_ns(), memory_order_relaxed);
    /* release: who finds no clock any more finds the sum. */
    atomic_store_explicit(&engine.cpu_clock, CLOCK_NONE, memory_order_release);
}

/* ThreadSanitizer's, where the program is built with it: it does not see the gate, and would take what the engine does
 * in MPI for races. */
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char *file, int line);

static void races_ignore(void)
{
    if (AnnotateIgnoreWritesBegin != NULL)
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static void races_look_again(void)
{
    if (AnnotateIgnoreWritesEnd != NULL)
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

/* A thread's first block makes it a heap of its own, for which glibc takes 128 MiB of addresses and gives half of them
 * back (malloc/arena.c, new_heap()). Where addresses are limited, the program's stack must not have to grow just then:
 * it is made at once rather than in MPI at some later time. */
static void engine_heap_make(void)
{
    void *volatile block = malloc(1); /* volatile: the pair is not optimized away */
    free(block);
    /* release: pairs with engine_heap_wait(). */
    atomic_store_explicit(&engine.makes_heap, false, memory_order_release);
}

void engine_heap_wait(void)
{
    /* acquire: who goes on sees the addresses taken. */
    while (atomic_load_explicit(&engine.makes_heap, memory_order_acquire))
        sched_yield();
}

static void *engine_main(void *unused)
{
    gate_thread.is_of_mpi = true;
    engine_heap_make();
    races_ignore();
    /* Before it is bound: other ranks tell engines by their name (spare.c). */
    pthread_setname_np(pthread_self(), ENGINE_SPARE_THREAD);
    engine_clock_open();
    engine_place_bind(&engine.place);
    engine.priority = getpriority(PRIO_PROCESS, 0);
    engine_run_promptly(true);
    engine_park();
    if (!engine_is_to_stop())
        engine_strategy_choose();
    while (!engine_is_to_stop()) {
        if (engine_pending_work() == 0)
            engine_park();
        else
            engine_turn();
    }
    engine_clock_close();
    races_look_again();
    return NULL;
}

/* All signals stay with the program's threads: a new thread inherits the mask. */
static bool engine_thread_create(void)
{
    sigset_t every;
    sigset_t before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    gate_thread.depth++; /* as MPI's own threads: the program has not become one with several (libc/threads.h) */
    /* relaxed: the new thread sees what came before pthread_create(). */
    atomic_store_explicit(&engine.makes_heap, true, memory_order_relaxed);
    int error = pthread_create(&engine.thread, NULL, engine_main, NULL);
    if (error != 0)
        atomic_store_explicit(&engine.makes_heap, false, memory_order_relaxed);
    gate_thread.depth--;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

static bool engine_open(void)
{
    engine.wake_descriptor = base_descriptor_own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (engine.wake_descriptor < 0 || !engine_sockets_open())
        return false;
    engine_sockets_watch(engine.wake_descriptor, ENGINE_EVENT_WAKE);
    engine_sockets_watch(engine.hooks.touch_descriptor, ENGINE_EVENT_TOUCH);
    return true;
}

static void engine_close(void)
{
    base_descriptor_close(engine.wake_descriptor);
    engine.wake_descriptor = -1;
    engine_sockets_close();
}

/* Of addresses: for its stack and its heap, and what the program may need beside it. */
static bool engine_has_room(void)
{
    enum { ROOM_BYTES = 192 << 20 };
    return base_room_left_bytes() >= ROOM_BYTES;
}

static bool engine_try(void)
{
    engine_place_look(&engine.place);
    if (!engine_has_room() || !engine_open() || !engine_thread_create()) {
        engine_close();
        engine_sockets_discard();
        return false;
    }
    if (base_room_is_limited())
        engine_heap_wait();
    return true;
}

bool engine_start(void)
{
    base_lock_take(&engine.start_lock);
    /* Once: a system that refuses would be asked again at every message. */
    if (engine.state == ENGINE_NOT_STARTED)
        engine.state = engine_try() ? ENGINE_RUNNING : ENGINE_REFUSED;
    bool is_running = engine.state == ENGINE_RUNNING;
    base_lock_release(&engine.start_lock);
    return is_running;
}

void engine_stop(void)
{
    if (engine.state != ENGINE_RUNNING)
        return;
    atomic_store_explicit(&engine.is_stopping, true, memory_order_release);
    /* The futex value does not change: wake until the thread has seen the flag. */
    while (pthread_tryjoin_np(engine.thread, NULL) == EBUSY) {
        engine_pending_wake();
        engine_wake();
        sched_yield();
    }
    engine.state = ENGINE_ENDED;
    engine_close();
}

static uint64_t engine_cpu_ns(void)
{
    /* acquire: pairs with engine_clock_close(). */
    clockid_t clock = atomic_load_explicit(&engine.cpu_clock, memory_order_acquire);
    int64_t spent_ns = clock == CLOCK_NONE ? 0 : base_clock_cpu_ns(clock);
    return spent_ns != 0 ? (uint64_t)spent_ns : atomic_load_explicit(&engine.cpu_ns, memory_order_relaxed);
}

static bool engine_shares_core(void)
{
    return atomic_load_explicit(&engine.place.shares_core, memory_order_relaxed);
}

bool engine_is_dear(void)
{
    return engine_shares_core() && engine_strategy_is_polling();
}

int64_t engine_shared_core_ns(void)
{
    return engine_shares_core() ? (int64_t)engine_cpu_ns() : 0;
}

int64_t engine_charge_ns(void)
{
    return engine_is_dear() ? engine_shared_core_ns() : 0;
}

struct engine_totals engine_totals_read(void)
{
    return (struct engine_totals){
        .cpu_ns = engine_cpu_ns(),
        .wakeups = atomic_load_explicit(&engine.wakeups, memory_order_relaxed),
        .guard_wakeups = atomic_load_explicit(&engine.guard_wakeups, memory_order_relaxed),
        .ucx_wakeups = atomic_load_explicit(&engine.ucx_wakeups, memory_order_relaxed),
    };
}

void engine_forked_child(void)
{
    engine.state = ENGINE_NOT_STARTED;
    atomic_store_explicit(&engine.makes_heap, false, memory_order_relaxed);
    atomic_store_explicit(&engine.cpu_clock, CLOCK_NONE, memory_order_relaxed);
    engine.wake_descriptor = -1;
    atomic_store_explicit(&engine.start_lock.state, 0, memory_order_relaxed);
    engine_pending_forked_child();
    engine_sockets_discard();
    gate_forked_child();
}
