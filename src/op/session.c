/* SPDX-License-Identifier: MIT */
#include "op/busy.h"
#include "op/session.h"

#include <sched.h>

#include "base/object.h"
#include "base/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "op/devices.h"
#include "op/host.h"
#include "op/registrars.h"
#include "op/transfer.h"
#include "protect/protect.h"

enum { PAIR_SIZE = 2 };

struct session session = {
    .reason = REASON_NOT_RUNNING, .hold_reason = REASON_NOT_RUNNING, .lowest_free = DEVICES_UNLISTED};

void session_set(enum reason reason)
{
    atomic_store_explicit(&session.reason, reason, memory_order_relaxed);
}

enum reason session_refused(void)
{
    return atomic_load_explicit(&session.refused, memory_order_relaxed);
}

/* seq_cst, here and at its other uses: pairs with session_set_holds(). */
static enum reason session_obstacle(void)
{
    return atomic_load_explicit(&session.obstacle, memory_order_seq_cst);
}

/* False: there is one already. seq_cst: pairs with session_set_holds(). */
static bool reason_put(_Atomic enum reason *place, enum reason reason)
{
    enum reason none = REASON_NONE;
    return atomic_compare_exchange_strong_explicit(place, &none, reason, memory_order_seq_cst, memory_order_relaxed);
}

void session_expect_type_functions(void)
{
    atomic_store_explicit(&session.has_type_functions, true, memory_order_relaxed);
}

void session_refuse(enum reason reason)
{
    (void)reason_put(&session.refused, reason);
    (void)reason_put(&session.reason, reason);
}

void session_refuse_holds(enum reason reason)
{
    (void)reason_put(&session.hold_reason, reason);
}

/* A thread may have met an obstacle since they were looked for: either it finds our state,
 * or we find it. */
void session_set_holds(enum reason reason)
{
    atomic_store_explicit(&session.hold_reason, reason, memory_order_seq_cst);
    if (session_obstacle() != REASON_NONE)
        session_refuse_holds(session_obstacle());
}

/* An RDMA device's library may cache registrations of addresses whose pages a hold moves. */
static enum reason session_find_devices(void)
{
    enum reason device = devices_look(&session.lowest_free, session.allows_transports);
    return device == REASON_NONE && registrars_are_called(&session.loads_seen) ? REASON_MEMORY_DEVICE : device;
}

void session_note_closed(unsigned descriptor)
{
    devices_note_closed(&session.lowest_free, descriptor);
}

enum reason session_look_for_devices(void)
{
    if (session_hold_reason() == REASON_NONE)
        session_refuse_holds(devices_look(&session.lowest_free, session.allows_transports));
    return session_hold_reason();
}

void session_meet_loaded(void)
{
    unsigned long long loads = object_counts().loads;
    /* relaxed: nothing is published through the number. Written last: who asks meanwhile looks, too. */
    if (loads == atomic_load_explicit(&session.loads_met, memory_order_relaxed))
        return;
    host.objects_adjust();
    if (session_hold_reason() == REASON_NONE)
        session_refuse_holds(session_find_devices());
    atomic_store_explicit(&session.loads_met, loads, memory_order_relaxed);
}

enum reason session_find_obstacle(void)
{
    enum reason device = session_find_devices();
    if (device != REASON_NONE)
        return device;
    if (session_obstacle() != REASON_NONE)
        return session_obstacle();
    return options.hold == OPTION_HOLD_NONE ? REASON_HOLDS_OFF : REASON_NONE;
}

enum reason session_allow_transports(void)
{
    session.allows_transports = true;
    atomic_store_explicit(&session.lowest_free, DEVICES_UNLISTED, memory_order_relaxed); /* as nobody runs beside */
    return session_find_obstacle();
}

void session_set_size(int size)
{
    session.size = size;
}

void session_expect_peers(void)
{
    atomic_store_explicit(&session.has_more_peers, true, memory_order_relaxed); /* for this thread's next calls */
}

void session_share_memory(uintptr_t caller)
{
    base_code_list_add(&session.sharers, caller);
    transfer_wait_unmatched_unless_interrupted();
}

/* MPI maps memory of its own, also in calls that go straight to it. */
static bool session_has_shared(void)
{
    return base_code_list_has_other(&session.sharers, &session.sharing, host.code_is_of_transport);
}

/* relaxed: a switch. A thread that begins beside MPI_Init, in a thread of the program's, is none of MPI's. */
static bool session_notes_late_threads(void)
{
    return atomic_load_explicit(&session.notes_late_threads, memory_order_relaxed);
}

void session_meet_thread(uintptr_t code)
{
    base_code_list_add(&session.threads, code);
    if (session_notes_late_threads())
        base_code_list_add(&session.late_threads, code);
}

void session_meet_unknown_thread(void)
{
    base_code_list_add_unknown(&session.threads);
    if (session_notes_late_threads())
        base_code_list_add_unknown(&session.late_threads);
}

bool session_threads_may_call(void)
{
    return base_code_list_has_other(&session.threads, &session.calling, host.code_never_calls);
}

bool session_threads_may_lock(void)
{
    return base_code_list_has_other(&session.threads, &session.locking, host.code_is_of_team);
}

static bool session_code_is_of_program(uintptr_t code)
{
    return !host.code_is_of_mpi(code);
}

void session_note_late_threads(void)
{
    atomic_store_explicit(&session.notes_late_threads, true, memory_order_relaxed);
}

void session_meet_late_threads(void)
{
    if (protect_holds_in_place() && session_hold_reason() == REASON_NONE &&
        base_code_list_has_other(&session.late_threads, &session.late, session_code_is_of_program))
        session_refuse_holds(REASON_NO_KEYS);
}

bool session_has_more_peers(void)
{
    return atomic_load_explicit(&session.has_more_peers, memory_order_relaxed);
}

bool session_has_others(void)
{
    return session.size > PAIR_SIZE || session_has_more_peers();
}

/* What is written to shared memory is seen without any call. Messages that are received early are looked for at the
 * call. What a signal handler writes cannot wait: it may be what the message waits for. Nor can what another thread
 * writes once it has a lock that this thread keeps while it uses the buffer. */
static bool session_must_match(void)
{
    return busy_is_shared() || session_threads_may_lock() ||
           (session_has_others() && (options.early_receive || host.has_handlers() || session_has_shared()));
}

enum session_order session_order(void)
{
    if (options.match != OPTION_MATCH_AUTO)
        return options.match == OPTION_MATCH_ON ? SESSION_ORDER_MATCHED : SESSION_ORDER_FREE;
    if (session_must_match())
        return SESSION_ORDER_MATCHED;
    return session_has_others() ? SESSION_ORDER_KEPT : SESSION_ORDER_FREE;
}

bool session_matches_collectives_first(void)
{
    bool is_matched = session_order() == SESSION_ORDER_MATCHED;
    return is_matched && (session_has_others() || options.match == OPTION_MATCH_ON);
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
    atomic_store_explicit(&session.is_paused, is_paused, memory_order_relaxed);
}

/* Nothing is held any more. What MPI does for itself is its own business. */
static void session_meet_obstacle(enum reason reason)
{
    if (gate_is_inside())
        return;
    (void)reason_put(&session.obstacle, reason);
    session_refuse_holds(reason);
    transfer_wait_all();
}

/* Pages that move lose what another userfaultfd has been told about them
 * (mremap(2) without its remap events). */
void session_meet_watcher(void)
{
    session_meet_obstacle(REASON_MEMORY_WATCHED);
}

/* The filter may refuse what gives memory back, or kill who asks. What another thread waits for may need this one: it
 * is waited for as before a fork. */
void session_meet_filter(void)
{
    if (gate_is_inside())
        return;
    (void)reason_put(&session.obstacle, REASON_FILTER);
    session_refuse_holds(REASON_FILTER);
    (void)transfer_wait_received(TRANSFER_PATIENCE_S);
}

void session_meet_registration(void)
{
    if (session_obstacle() == REASON_NONE)
        session_meet_obstacle(REASON_MEMORY_DEVICE);
}

/* The engine may be making its last call for progress (mpi/progress.c). While a thread of the program's
 * is inside MPI, the engine is not. */
static void session_await_progress(void)
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

/* Whatever ended ops before, some may be under way: who found out may have been inside MPI. */
static void session_withdraw(enum reason reason)
{
    bool is_first = reason_put(&session.reason, reason);
    if (!is_first && engine_pending_work() == 0)
        return;
    if (gate_is_inside() || gate_thread.is_of_mpi)
        return;
    transfer_wait_due_unless_interrupted();
    session_await_progress();
}

void session_bypassed(void)
{
    session_withdraw(REASON_BYPASS);
}

void session_extended(void)
{
    (void)reason_put(&session.refused, REASON_EXTENSION);
    session_withdraw(REASON_EXTENSION);
}

void session_meet_key(void)
{
    (void)reason_put(&session.refused, REASON_MEMORY_SPECIAL);
    session_withdraw(REASON_MEMORY_SPECIAL);
}

void session_refuse_bypass(void)
{
    (void)reason_put(&session.refused, REASON_BYPASS);
    session_bypassed();
}
