/* SPDX-License-Identifier: MIT */
/* MPI_Init to MPI_Finalize. The thread level stays the program's: below
 * MPI_THREAD_MULTIPLE the gate keeps the engine and the program's threads from
 * being in MPI at once, which is what MPI's own locks would be for. */
#include <stdatomic.h>

#include "mpi/dispatch.h"
#include "bind/bind.h"
#include "engine/gate.h"
#include "mpi/entries.h"
#include "op/requests.h"
#include "mpi/errors.h"
#include "mpi/request/freed.h"
#include "libc/signals.h"
#include "profile/profile.h"
#include "op/lifetime.h"
#include "op/transfer.h"
#include "mpi/poke.h"
#include "mpi/types.h"
#include "mpi/early/unexpected.h"

/* The engine's look, inside the gate. */
static void lifecycle_look(void)
{
    poke();
    unexpected_look();
}

static void lifecycle_start(int provided_ordinal)
{
    struct lifetime_facts facts = {.abi = ABI_NAME,
                                   .mpi_library = bind_library_path(),
                                   .rank = -1,
                                   .size = -1,
                                   .provided_ordinal = provided_ordinal,
                                   .poke = lifecycle_look,
                                   .find_bypass = bind_bypass};
    MPI_Comm parent = abi_handles.comm_null;
    real.MPI_Comm_rank(abi_handles.comm_world, &facts.rank);
    real.MPI_Comm_size(abi_handles.comm_world, &facts.size);
    real.MPI_Comm_get_parent(&parent);
    facts.is_spawned = parent != abi_handles.comm_null;
    lifetime_start(&facts);
    libc_signals_open_thread(); /* the program may have blocked all signals before */
}

int entry_MPI_Init(int *argc, char ***argv)
{
    int provided;
    libc_signals_watch(); /* before MPI sets handlers of its own */
    gate_enter();
    int result = real.MPI_Init(argc, argv);
    gate_leave();
    if (result == MPI_SUCCESS && real.MPI_Query_thread(&provided) == MPI_SUCCESS)
        lifecycle_start(abi_thread_ordinal(provided));
    return result;
}

int entry_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    libc_signals_watch(); /* before MPI sets handlers of its own */
    gate_enter();
    int result = real.MPI_Init_thread(argc, argv, required, provided);
    gate_leave();
    if (result == MPI_SUCCESS)
        lifecycle_start(abi_thread_ordinal(*provided));
    return result;
}

/* All ops end before MPI does; then the engine, so that no thread is left. */
int entry_MPI_Finalize(void)
{
    lifetime_stop();
    int late = errors_take();
    freed_requests_give_up();
    bool is_needed = !unexpected_settle();
    poke_finish(is_needed);
    int result = real.MPI_Finalize();
    unexpected_finish();
    return result == MPI_SUCCESS ? late : result;
}

/* No wait: the program gives up, and its peers may be gone. */
int entry_MPI_Abort(MPI_Comm comm, int errorcode)
{
    lifetime_abort();
    return real.MPI_Abort(comm, errorcode);
}

/* A program that only uses sessions is passed: nothing ever starts. Ops of a
 * world-model program are not disturbed by a session beside them. */
int entry_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    dispatch_wait_argument(session, sizeof *session);
    dispatch_enter();
    return dispatch_leave(real.MPI_Session_init(info, errhandler, session));
}

int entry_MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    dispatch_expect_callbacks();
    dispatch_wait_argument(errhandler, sizeof *errhandler);
    dispatch_enter();
    return dispatch_leave(real.MPI_Comm_create_errhandler(function, errhandler));
}

int entry_MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    dispatch_expect_callbacks();
    dispatch_wait_argument(errhandler, sizeof *errhandler);
    dispatch_enter();
    return dispatch_leave(real.MPI_Errhandler_create(function, errhandler));
}

/* Its query function runs inside MPI_Wait and MPI_Test (MPI 4.1, 13.2). */
int entry_MPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                             MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
    dispatch_expect_callbacks();
    dispatch_enter();
    return dispatch_leave(real.MPI_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request));
}

/* Set by whoever makes such a key, never cleared: attributes outlive their key
 * (MPI 4.1, 7.7.2). relaxed: a type that has one got it after this. */
static _Atomic bool types_have_functions;

/* A key that MPI makes for itself (ROMIO) comes from inside it, and its functions
 * touch no memory of the program. */
int entry_MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                                 MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                                 void *extra_state)
{
    if (!gate_is_inside())
        atomic_store_explicit(&types_have_functions, true, memory_order_relaxed);
    dispatch_wait_argument(type_keyval, sizeof *type_keyval);
    dispatch_enter();
    return dispatch_leave(
        real.MPI_Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state));
}

/* Types are freed right after messages of theirs, so it waits for these only where
 * a function of the program's may run inside the gate and touch them; what runs
 * such functions otherwise always does (class drain). */
int entry_MPI_Type_free(MPI_Datatype *datatype)
{
    types_forget();
    if (atomic_load_explicit(&types_have_functions, memory_order_relaxed))
        transfer_wait_due();
    dispatch_wait_argument(datatype, sizeof *datatype);
    dispatch_enter();
    return dispatch_leave(real.MPI_Type_free(datatype));
}
