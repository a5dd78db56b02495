/* SPDX-License-Identifier: MIT */
#include "op/lifetime.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/launch.h"
#include "base/options.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/strategy.h"
#include "engine/ucx.h"
#include "op/busy.h"
#include "op/copied.h"
#include "op/devices.h"
#include "op/host.h"
#include "op/observer.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/straight.h"
#include "op/transfer.h"
#include "policy/policy.h"
#include "protect/protect.h"
#include "record/name.h"
#include "record/record.h"

enum { LEVEL_MULTIPLE = 3 };

/* identity, started_ns, is_finalized: written in MPI_Init. */
static struct {
    struct record_format_header identity;
    int64_t started_ns;
    bool (*is_finalized)(void);
    _Atomic bool is_written;  /* by whoever ends the process first */
    _Atomic bool is_aborting; /* by MPI_Abort, read by the exit that follows */
} lifetime = {.identity = {.rank = -1, .size = -1, .abi = "none", .hold = "none", .progress = "none"}};

static void lifetime_note(char *field, size_t field_bytes, const char *text)
{
    snprintf(field, field_bytes, "%s", text == NULL ? "" : text);
}

static void lifetime_identify(const struct lifetime_facts *facts)
{
    struct record_format_header *identity = &lifetime.identity;
    identity->pid = (uint32_t)getpid();
    identity->rank = facts->rank;
    identity->size = facts->size;
    identity->started_unix_ns = base_clock_unix_ns();
    gethostname(identity->host, sizeof identity->host - 1);
    lifetime_note(identity->program, sizeof identity->program, program_invocation_short_name);
    lifetime_note(identity->launch, sizeof identity->launch, facts->launch);
    lifetime_note(identity->abi, sizeof identity->abi, facts->abi);
    lifetime_note(identity->mpi_library, sizeof identity->mpi_library, facts->mpi_library);
}

static enum reason lifetime_decide(const struct lifetime_facts *facts)
{
    char *notice = lifetime.identity.notice;
    size_t notice_bytes = sizeof lifetime.identity.notice;
    if (session_refused() == REASON_BYPASS) {
        lifetime_note(notice, notice_bytes, "looks for PMPI functions by name");
        return REASON_BYPASS;
    }
    if (facts->find_bypass(notice, notice_bytes))
        return REASON_BYPASS;
    lifetime_note(notice, notice_bytes, options.notice);
    return options.progress == OPTION_PROGRESS_OFF ? REASON_SWITCHED_OFF : session_refused();
}

static bool lifetime_holds_by_keys(enum reason found, bool is_multiple)
{
    bool are_needed = options.hold == OPTION_HOLD_AUTO && found == REASON_TRANSPORT && !is_multiple;
    return options.hold == OPTION_HOLD_KEYS || (are_needed && protect_has_keys());
}

/* By keys memory stays where RDMA devices know it. Under MPI_THREAD_MULTIPLE somebody may always be inside the gate,
 * and functions of the program's that MPI calls there would see what has not come yet. */
static enum reason lifetime_choose_hold(enum reason found, bool is_multiple, enum option_hold *choice)
{
    bool is_by_keys = lifetime_holds_by_keys(found, is_multiple);
    enum option_hold wanted = is_by_keys ? OPTION_HOLD_KEYS : options.hold;
    if (is_by_keys && found == REASON_TRANSPORT)
        found = session_allow_transports();
    if (found == REASON_NONE && is_by_keys && is_multiple)
        found = REASON_NO_KEYS;
    *choice = found == REASON_NONE ? wanted : OPTION_HOLD_NONE;
    return found;
}

/* Without a backend, too, protect tells the kinds of memory apart. */
static enum reason lifetime_start_holds(bool is_multiple, bool *has_rdma)
{
    enum option_hold choice;
    enum reason found = session_find_obstacle();
    *has_rdma = found == REASON_TRANSPORT;
    found = lifetime_choose_hold(found, is_multiple, &choice);
    if (protect_start(choice, transfer_touched) || found != REASON_NONE)
        return found;
    if (*has_rdma)
        return REASON_TRANSPORT;
    return options.hold == OPTION_HOLD_KEYS ? REASON_NO_KEYS : REASON_MEMORY_FAILED;
}

/* What every call needs to know, be it timed alone. */
static void lifetime_share(bool is_multiple)
{
    straight.is_shared = is_multiple;
    gate_share(is_multiple);
    requests_share(is_multiple);
    record.is_shared = is_multiple;
    copied_objects_track();
}

/* relaxed: a switch, written by the thread in MPI_Abort, which does not wait for the engine. */
static bool lifetime_goes_on(void)
{
    return session_reason() == REASON_NONE && !atomic_load_explicit(&lifetime.is_aborting, memory_order_relaxed);
}

static void lifetime_configure(const struct lifetime_facts *facts)
{
    bool is_multiple = facts->provided_ordinal == LEVEL_MULTIPLE;
    bool has_rdma;
    session_set_holds(lifetime_start_holds(is_multiple, &has_rdma));
    host.watch();
    struct engine_hooks hooks = {protect_event_descriptor(), protect_hold_events_read, facts->progress,
                                 lifetime_goes_on, observer_draws() ? observer.engine_polled : NULL};
    /* Neither shared memory nor an RDMA device wakes who sleeps on sockets. */
    bool has_silent_peers = has_rdma || base_launch_local_ranks() != 1;
    engine_configure(options.progress, has_silent_peers, hooks);
    engine_ucx_settle(has_silent_peers && !is_multiple);
    policy_configure(options.learn, options.send_buffers);
    lifetime_share(is_multiple);
    protect_threads_set(host.threads_are_several());
    if (is_multiple)
        busy_raise(); /* for ever: no call goes straight to MPI */
}

/* What would a run hold memory by, or why would it hold none? Asked, and ended again. */
static void lifetime_foresee_holds(bool is_multiple)
{
    bool has_rdma;
    session_set_holds(lifetime_start_holds(is_multiple, &has_rdma));
    protect_stop();
}

static struct profile_file_identity lifetime_profile_identity(const struct lifetime_facts *facts)
{
    return (struct profile_file_identity){.rank = facts->rank,
                                          .size = facts->size,
                                          .is_shared = facts->provided_ordinal == LEVEL_MULTIPLE,
                                          .abi = facts->abi,
                                          .mpi_library = facts->mpi_library,
                                          .event_capacity = (uint32_t)options.timeline};
}

/* Every call is passed, and timed. What holds would need to know of the program's memory is
 * needed for watches as well. */
static enum reason lifetime_profile(const struct lifetime_facts *facts)
{
    struct profile_file_identity profile = lifetime_profile_identity(facts);
    lifetime_foresee_holds(profile.is_shared);
    lifetime_share(profile.is_shared);
    host.watch();
    profile.matches_first = session_order() != SESSION_ORDER_FREE;
    if (!observer.start(&profile))
        lifetime_note(lifetime.identity.notice, sizeof lifetime.identity.notice,
                      "no profile: its file could not be made");
    return REASON_SWITCHED_OFF;
}

static void lifetime_draw(const struct lifetime_facts *facts)
{
    struct profile_file_identity picture = lifetime_profile_identity(facts);
    picture.is_shared = true; /* the engine adds to it, too */
    observer.draw(&picture);
}

/* Taken before it is known what MPI will open: its threads are begun meanwhile. */
static bool lifetime_may_need_keys(void)
{
    return options.hold == OPTION_HOLD_KEYS || (options.hold == OPTION_HOLD_AUTO && devices_may_be_transports());
}

void lifetime_prepare(void)
{
    if (session_reason() != REASON_NOT_RUNNING || !lifetime_may_need_keys())
        return;
    gate_use_rights(protect_take_keys());
    session_note_late_threads();
}

void lifetime_start(const struct lifetime_facts *facts)
{
    lifetime.started_ns = base_clock_now_ns();
    lifetime.is_finalized = facts->is_finalized;
    lifetime_identify(facts);
    session_set_size(facts->size);
    if (facts->provided_ordinal == LEVEL_MULTIPLE)
        straight_bar();
    if (facts->is_spawned)
        session_expect_peers();
    enum reason reason = observer.is_wanted() ? lifetime_profile(facts) : lifetime_decide(facts);
    if (observer_draws())
        lifetime_draw(facts);
    if (reason == REASON_NONE)
        lifetime_configure(facts);
    protect_settle_keys();
    gate_use_rights(protect_rights());
    lifetime.identity.is_active = reason == REASON_NONE;
    session_set(reason);
    lifetime_note(lifetime.identity.hold, sizeof lifetime.identity.hold, protect_backend_name());
}

static void lifetime_write_record(bool is_complete)
{
    const char *directory = record_name_folder();
    struct record_format_header *identity = &lifetime.identity;
    if (directory == NULL || identity->pid != (uint32_t)getpid())
        return;
    if (atomic_exchange_explicit(&lifetime.is_written, true, memory_order_relaxed))
        return;
    identity->is_complete = is_complete;
    lifetime_note(identity->progress, sizeof identity->progress, engine_strategy_name());
    struct engine_totals totals = engine_totals_read();
    record_count(RECORD_ENGINE_CPU_NS, totals.cpu_ns);
    record_count(RECORD_ENGINE_WAKEUPS, totals.wakeups);
    record_count(RECORD_ENGINE_GUARD_WAKEUPS, totals.guard_wakeups);
    record_count(RECORD_ENGINE_UCX_WAKEUPS, totals.ucx_wakeups);
    record_count(RECORD_RUN_NS, (uint64_t)(base_clock_now_ns() - lifetime.started_ns));
    straight_record();
    record_write(directory, identity);
}

void lifetime_stop(void)
{
    observer.stop();
    transfer_wait_all();
    session_set(REASON_NOT_RUNNING);
    engine_stop();
    transfer_open_kept();
    protect_stop();
    protect_settle_keys();
    gate_use_rights(protect_rights());
    lifetime_write_record(true);
}

void lifetime_forked_child(void)
{
    session_set(REASON_NOT_RUNNING);
    observer.forked_child();
    protect_inherit();
    engine_forked_child();
    transfer_forked_child();
}

void lifetime_abort(void)
{
    atomic_store_explicit(&lifetime.is_aborting, true, memory_order_relaxed);
    transfer_let_wait(false);
}

void lifetime_abort_failed(void)
{
    transfer_let_wait(true);
}

/* A program that leaves without MPI_Finalize: what its blocking calls promised
 * still happens, as it would have under MPI alone. But when MPI itself ends the
 * process (an abort, a lost peer: often from a thread of its own), nothing may
 * hold it up. Handlers of atexit() and destructors run after us and may call MPI;
 * what they began would not be waited for: pass. MPI may have ended past us: by MPI_Finalize of the program's own. */
void lifetime_exit(void)
{
    if (lifetime.identity.pid != (uint32_t)getpid())
        return;
    bool is_finalized = lifetime.is_finalized();
    observer.leave(is_finalized);
    session_refuse(REASON_NOT_RUNNING);
    transfer_leave(transfer_is_starter() && !atomic_load_explicit(&lifetime.is_aborting, memory_order_relaxed));
    lifetime_write_record(is_finalized);
}
