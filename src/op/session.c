/* SPDX-License-Identifier: MIT */
#include "op/session.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/launch.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/strategy.h"
#include "bind/bind.h"
#include "op/busy.h"
#include "op/copied.h"
#include "op/devices.h"
#include "libc/process.h"
#include "libc/threads.h"
#include "profile/profile.h"
#include "op/registrars.h"
#include "op/requests.h"
#include "op/transfer.h"
#include "policy/policy.h"
#include "protect/protect.h"
#include "record/record.h"

enum { LEVEL_MULTIPLE = 3, PAIR_SIZE = 2 };

/* Written by the thread in MPI_Init, MPI_Finalize or fork, and by any that finds why
 * ops are not possible any more; read by all. Relaxed: switches, which order nothing
 * (between MPI_Init and another thread's first call the program does); what begins
 * beside a write may still have seen the old value. */
_Atomic enum reason session_state = REASON_NOT_RUNNING;
/* The same, and by a thread that makes a userfaultfd. */
_Atomic enum reason session_hold_state = REASON_NOT_RUNNING;

/* Any thread (bind/pcontrol.c). */
_Atomic bool session_is_paused;

static struct record_header identity = {.rank = -1, .size = -1, .abi = "none", .hold = "none", .progress = "none"};
static int64_t started_ns;
static _Atomic bool is_written;      /* by whoever ends the process first */
static _Atomic bool has_more_peers;  /* than MPI_COMM_WORLD tells of; any thread */
static _Atomic enum reason refused;  /* for good, be it before MPI_Init; any thread, at any time. MPI_Init asks */
static _Atomic enum reason obstacle; /* to holds, for good, be it before MPI_Init; any thread, at any time */
static _Atomic bool is_aborting;     /* by MPI_Abort, read by the exit that follows */

static void session_state_set(enum reason reason)
{
    atomic_store_explicit(&session_state, reason, memory_order_relaxed);
}

/* seq_cst, here and at its other uses: pairs with session_hold_state_set(). */
static enum reason session_obstacle(void)
{
    return atomic_load_explicit(&obstacle, memory_order_seq_cst);
}

/* False: there is one already. seq_cst: pairs with session_hold_state_set(). */
static bool reason_put(_Atomic enum reason *place, enum reason reason)
{
    enum reason none = REASON_NONE;
    return atomic_compare_exchange_strong_explicit(place, &none, reason, memory_order_seq_cst, memory_order_relaxed);
}

void session_refuse_holds(enum reason reason)
{
    (void)reason_put(&session_hold_state, reason);
}

/* A thread may have met an obstacle since they were looked for: either it finds our state,
 * or we find it. */
static void session_hold_state_set(enum reason reason)
{
    atomic_store_explicit(&session_hold_state, reason, memory_order_seq_cst);
    if (session_obstacle() != REASON_NONE)
        session_refuse_holds(session_obstacle());
}

static void session_note(char *field, size_t field_bytes, const char *text)
{
    snprintf(field, field_bytes, "%s", text == NULL ? "" : text);
}

static void session_identify(const struct session_facts *facts)
{
    identity.pid = (uint32_t)getpid();
    identity.rank = facts->rank;
    identity.size = facts->size;
    gethostname(identity.host, sizeof identity.host - 1);
    session_note(identity.abi, sizeof identity.abi, facts->abi);
    session_note(identity.mpi_library, sizeof identity.mpi_library, bind_library_path());
}

/* An RDMA device's library may cache registrations of addresses whose pages a hold moves. */
static enum reason session_find_devices(void)
{
    enum reason device = devices_look();
    return device == REASON_NONE && registrars_are_called() ? REASON_MEMORY_DEVICE : device;
}

enum reason session_look_for_devices(void)
{
    if (session_hold_reason() == REASON_NONE)
        session_refuse_holds(session_find_devices());
    return session_hold_reason();
}

void session_expect_peers(void)
{
    atomic_store_explicit(&has_more_peers, true, memory_order_relaxed); /* for this thread's next calls */
}

bool session_has_more_peers(void)
{
    return atomic_load_explicit(&has_more_peers, memory_order_relaxed);
}

bool session_matches_first(void)
{
    bool has_others = identity.size > PAIR_SIZE || gate_is_open() || session_has_more_peers();
    return options.match == OPTION_MATCH_ON || (options.match == OPTION_MATCH_AUTO && has_others);
}

static enum reason session_refused(void)
{
    return atomic_load_explicit(&refused, memory_order_relaxed);
}

static enum reason session_decide(void)
{
    bool is_asked_for = session_refused() == REASON_BYPASS;
    const char *bypass = is_asked_for ? "looks for PMPI functions by name" : bind_bypass();
    session_note(identity.notice, sizeof identity.notice, bypass != NULL ? bypass : options_notice());
    if (bypass != NULL)
        return REASON_BYPASS;
    if (options.progress == OPTION_PROGRESS_OFF)
        return REASON_SWITCHED_OFF;
    return session_refused();
}

static enum reason session_find_obstacle(void)
{
    enum reason device = session_find_devices();
    if (device != REASON_NONE)
        return device;
    if (session_obstacle() != REASON_NONE)
        return session_obstacle();
    return options.hold == OPTION_HOLD_NONE ? REASON_HOLDS_OFF : REASON_NONE;
}

/* Without a backend, too, protect tells the kinds of memory apart. */
static enum reason session_start_holds(void)
{
    enum reason found = session_find_obstacle();
    bool has_backend = protect_start(found == REASON_NONE ? options.hold : OPTION_HOLD_NONE, transfer_touched);
    return found == REASON_NONE && !has_backend ? REASON_MEMORY_FAILED : found;
}

static void session_configure(const struct session_facts *facts)
{
    bool is_multiple = facts->provided_ordinal == LEVEL_MULTIPLE;
    session_hold_state_set(session_start_holds());
    libc_threads_watch();
    libc_process_watch();
    struct engine_hooks hooks = {protect_event_descriptor(), protect_events_read, facts->poke};
    /* Neither shared memory nor an RDMA device wakes who sleeps on sockets. */
    bool has_rdma = session_hold_reason() == REASON_TRANSPORT;
    engine_configure(options.progress, has_rdma || base_launch_local_ranks() != 1, hooks);
    policy_configure(options.learn, options.send_buffers);
    gate_open(is_multiple);
    requests_share(is_multiple);
    record_is_shared = is_multiple;
    copied_objects_track();
    protect_threads_set(libc_threads_are_several());
    if (is_multiple)
        busy_raise(); /* for ever: no call goes straight to MPI */
}

/* Every call is passed, and timed. What holds would need to know of the program's memory is
 * needed for watches as well. */
static enum reason session_profile(const struct session_facts *facts)
{
    struct profile_identity profile = {.rank = facts->rank,
                                       .size = facts->size,
                                       .is_shared = facts->provided_ordinal == LEVEL_MULTIPLE,
                                       .abi = facts->abi,
                                       .mpi_library = bind_library_path(),
                                       .event_capacity = (uint32_t)options.timeline};
    gate_open(profile.is_shared);
    requests_share(profile.is_shared);
    record_is_shared = profile.is_shared;
    copied_objects_track();
    libc_threads_watch();
    libc_process_watch();
    profile.matches_first = session_matches_first();
    if (!profile_start(&profile))
        session_note(identity.notice, sizeof identity.notice, "no profile: its file could not be made");
    return REASON_SWITCHED_OFF;
}

void session_start(const struct session_facts *facts)
{
    started_ns = base_clock_now_ns();
    session_identify(facts);
    if (facts->is_spawned)
        session_expect_peers();
    enum reason reason = profile_is_wanted() ? session_profile(facts) : session_decide();
    if (reason == REASON_NONE)
        session_configure(facts);
    identity.is_active = reason == REASON_NONE;
    session_state_set(reason);
    session_note(identity.hold, sizeof identity.hold, protect_backend_name());
}

void session_refuse(enum reason reason)
{
    (void)reason_put(&refused, reason);
    (void)reason_put(&session_state, reason);
}

bool session_has_engine(void)
{
    bool has_engine = engine_start();
    if (!has_engine)
        session_refuse(REASON_NO_ENGINE);
    return has_engine;
}

void session_pause(bool is_paused)
{
    atomic_store_explicit(&session_is_paused, is_paused, memory_order_relaxed);
}

static void session_write_record(bool is_complete)
{
    const char *directory = getenv("LAPWING_RECORD_DIR");
    if (directory == NULL || identity.pid != (uint32_t)getpid())
        return;
    if (atomic_exchange_explicit(&is_written, true, memory_order_relaxed))
        return;
    identity.is_complete = is_complete;
    session_note(identity.progress, sizeof identity.progress, engine_strategy_name());
    struct engine_totals totals = engine_totals_read();
    record_count(RECORD_ENGINE_CPU_NS, totals.cpu_ns);
    record_count(RECORD_ENGINE_WAKEUPS, totals.wakeups);
    record_count(RECORD_ENGINE_GUARD_WAKEUPS, totals.guard_wakeups);
    record_count(RECORD_RUN_NS, (uint64_t)(base_clock_now_ns() - started_ns));
    record_write(directory, &identity);
}

void session_stop(void)
{
    profile_stop();
    transfer_wait_all();
    session_state_set(REASON_NOT_RUNNING);
    engine_stop();
    protect_stop();
    session_write_record(true);
}

void intercept_process_forked(void)
{
    session_state_set(REASON_NOT_RUNNING);
    profile_fork();
    protect_forked_child();
    engine_forked_child();
}

/* Nothing is held any more. What MPI does for itself is its own business. */
static void session_meet_obstacle(enum reason reason)
{
    if (gate_is_inside())
        return;
    (void)reason_put(&obstacle, reason);
    session_refuse_holds(reason);
    transfer_wait_all();
}

/* Pages that move lose what another userfaultfd has been told about them
 * (mremap(2) without its remap events). */
void intercept_process_watches_memory(void)
{
    session_meet_obstacle(REASON_MEMORY_WATCHED);
}

void intercept_process_registers_memory(void)
{
    if (session_obstacle() == REASON_NONE)
        session_meet_obstacle(REASON_MEMORY_DEVICE);
}

bool intercept_process_is_registrar(const char *name)
{
    return registrars_include(name);
}

/* The engine may be making its last poke (mpi/poke.c). While a thread of the program's
 * is inside MPI, the engine is not. */
static void session_await_poke(void)
{
    enum { TRIES_MAX = 1000 };
    bool is_inside = false;
    for (int i = 0; i < TRIES_MAX && !is_inside; i++) {
        is_inside = gate_try_enter();
        if (!is_inside)
            sched_yield();
    }
    if (is_inside)
        gate_leave();
}

static void session_withdraw(enum reason reason)
{
    if (!reason_put(&session_state, reason))
        return;
    if (gate_is_inside() || libc_threads_is_of_mpi())
        return;
    transfer_wait_due_unless_interrupted();
    session_await_poke();
}

void session_bypassed(void)
{
    session_withdraw(REASON_BYPASS);
}

void session_extended(void)
{
    (void)reason_put(&refused, REASON_EXTENSION);
    session_withdraw(REASON_EXTENSION);
}

void intercept_process_keys_memory(void)
{
    (void)reason_put(&refused, REASON_MEMORY_SPECIAL);
    session_withdraw(REASON_MEMORY_SPECIAL);
}

void intercept_process_bypasses(void)
{
    (void)reason_put(&refused, REASON_BYPASS);
    session_bypassed();
}

void session_abort(void)
{
    atomic_store_explicit(&is_aborting, true, memory_order_relaxed);
}

/* A program that leaves without MPI_Finalize: what its blocking calls promised
 * still happens, as it would have under MPI alone. But when MPI itself ends the
 * process (an abort, a lost peer: often from a thread of its own), nothing may
 * hold it up. Handlers of atexit() and destructors run after us and may call MPI;
 * what they began would not be waited for: pass. */
void intercept_process_exiting(void)
{
    if (identity.pid != (uint32_t)getpid())
        return;
    profile_leave();
    session_refuse(REASON_NOT_RUNNING);
    transfer_leave(transfer_is_starter() && !atomic_load_explicit(&is_aborting, memory_order_relaxed));
    session_write_record(false);
}
