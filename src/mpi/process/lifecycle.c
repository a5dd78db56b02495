/* SPDX-License-Identifier: MIT */
/* MPI_Init to MPI_Finalize. The thread level stays the program's: below
 * MPI_THREAD_MULTIPLE the gate keeps the engine and the program's threads from
 * being in MPI at once, which is what MPI's own locks would be for. */
#include "bind/bind.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/options.h"
#include "mpi/collective/collective_begin.h"
#include "engine/gate.h"
#include "engine/sockets.h"
#include "engine/strategy.h"
#include "engine/ucx.h"
#include "job/store.h"
#include "libc/signals.h"
#include "mpi/agreement.h"
#include "mpi/dispatch.h"
#include "mpi/early.h"
#include "mpi/entries.h"
#include "mpi/message/ahead_start.h"
#include "mpi/message/buffered.h"
#include "mpi/process/worlds.h"
#include "mpi/progress.h"
#include "mpi/quiet_end.h"
#include "mpi/request/ahead.h"
#include "mpi/request/freed.h"
#include "op/late_errors.h"
#include "op/lifetime.h"
#include "op/observer.h"
#include "op/session.h"
#include "op/straight.h"
#include "op/transfer.h"
#include "policy/policy.h"

/* The engine's look, inside the gate. */
static void lifecycle_progress(void)
{
    progress_poll();
    early_poll();
    buffered_poll();
    transfer_serve_ahead();
}

/* Where ranks may die, collectives are passed on all ranks: who revokes the program's communicator does not revoke the
 * one beside, and ranks can agree upon nothing without the dead. In a profile ranks can only meet at the end. */
static bool lifecycle_is_able(void)
{
    return (session_reason() == REASON_NONE || observer.is_wanted()) && !abi_survives_ranks();
}

static bool lifecycle_is_finalized(void)
{
    int is_finalized = 0;
    return real.MPI_Finalized(&is_finalized) == MPI_SUCCESS && is_finalized;
}

static void lifecycle_start(int provided_ordinal)
{
    struct lifetime_facts facts = {.abi = ABI_NAME,
                                   .mpi_library = bind_library_path(),
                                   .launch = store_launch(),
                                   .rank = -1,
                                   .size = -1,
                                   .provided_ordinal = provided_ordinal,
                                   .progress = lifecycle_progress,
                                   .find_bypass = bind_bypass,
                                   .is_finalized = lifecycle_is_finalized};
    MPI_Comm parent = abi_handles.comm_null;
    real.MPI_Comm_rank(abi_handles.comm_world, &facts.rank);
    real.MPI_Comm_size(abi_handles.comm_world, &facts.size);
    real.MPI_Comm_get_parent(&parent);
    facts.is_spawned = parent != abi_handles.comm_null;
    if (abi_forbids_tests())
        session_refuse(REASON_TESTS);
    if (facts.is_spawned)
        worlds_meet();
    ahead_start_settle();
    lifetime_start(&facts);
    agreement_settle(facts.rank, facts.size, lifecycle_is_able());
    policy_start(base_clock_now_ns());
    quiet_end_start(); /* before the program's attributes of MPI_COMM_SELF: the first is deleted last */
    collective_begin_start();
    libc_signals_open_thread(); /* the program may have blocked all signals before */
}

static bool lifecycle_has_engine(void)
{
    return engine_strategy_polls_by_itself() && !options.profile && session_refused() == REASON_NONE;
}

/* Data that gather for longer than a fragment would leave the sender with nothing to send. */
static struct abi_fragments lifecycle_set_fragments(void)
{
    struct abi_fragments fragments = {.bytes = 0};
    /* They need somebody who answers while the program is away from MPI. */
    if (lifecycle_has_engine() && options.nonblocking)
        fragments = abi_fragments_set();
    if (fragments.bytes != 0)
        engine_sockets_gather_at_most(fragments.bytes);
    return fragments;
}

/* required: the thread level that the program asks for. */
static struct abi_fragments lifecycle_prepare(int required)
{
    base_descriptor_make_room();
    libc_signals_watch(); /* before MPI sets handlers of its own */
    agreement_offer();
    lifetime_prepare();
    struct abi_fragments fragments = lifecycle_set_fragments();
    engine_ucx_expect(lifecycle_has_engine() && required != MPI_THREAD_MULTIPLE);
    gate_enter();
    return fragments;
}

static void lifecycle_leave(struct abi_fragments fragments)
{
    if (fragments.is_ours)
        abi_fragments_unset(); /* the programs that this one starts get the environment that it was given */
    gate_leave();
    engine_ucx_expect(false);
}

/* MPI is asked, not what the program was given: MPICH takes NULL for a place to tell the thread level. */
static void lifecycle_start_after(int result)
{
    int provided;
    if (result == MPI_SUCCESS && real.MPI_Query_thread(&provided) == MPI_SUCCESS)
        lifecycle_start(abi_thread_ordinal(provided));
}

int entry_MPI_Init(int *argc, char ***argv)
{
    struct abi_fragments fragments = lifecycle_prepare(MPI_THREAD_SINGLE);
    int result = real.MPI_Init(argc, argv);
    lifecycle_leave(fragments);
    lifecycle_start_after(result);
    return result;
}

int entry_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct abi_fragments fragments = lifecycle_prepare(required);
    int result = real.MPI_Init_thread(argc, argv, required, provided);
    lifecycle_leave(fragments);
    lifecycle_start_after(result);
    return result;
}

/* All ops end before MPI does; then the engine, so that no thread is left. */
int entry_MPI_Finalize(void)
{
    buffered_wait_all();
    lifetime_stop();
    int late = late_errors_take();
    freed_requests_give_up();
    ahead_finish();
    bool is_needed = !early_settle();
    progress_finish(is_needed);
    int result = real.MPI_Finalize();
    early_finish();
    return result == MPI_SUCCESS ? late : result;
}

/* No wait: the program gives up, and its peers may be gone. Nor in what MPI calls of libc, to tell its launcher. */
int entry_MPI_Abort(MPI_Comm comm, int errorcode)
{
    lifetime_abort();
    int result = real.MPI_Abort(comm, errorcode);
    lifetime_abort_failed();
    return result;
}

/* A program that only uses sessions is passed: nothing ever starts. Ops of a
 * world-model program are not disturbed by a session beside them. */
int entry_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    dispatch_wait_argument(session, sizeof *session);
    lifetime_prepare(); /* MPI may begin its threads here */
    straight_bar();     /* of any thread level, which is not told here */
    dispatch_enter();
    return dispatch_leave(real.MPI_Session_init(info, errhandler, session));
}
