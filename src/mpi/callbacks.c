/* SPDX-License-Identifier: MIT */
/* Calls that give MPI functions of the program's own, which it runs at times that only MPI knows. */
#include "engine/gate.h"
#include "mpi/dispatch.h"
#include "mpi/entries.h"
#include "mpi/datatypes.h"
#include "op/begin.h"
#include "op/session.h"
#include "op/transfer.h"

/* Any thread may call it beside others at any level (MPI 4.1, 11.4.1), so that it cannot end what they have begun. */
int entry_MPI_Session_create_errhandler(MPI_Session_errhandler_function *function, MPI_Errhandler *errhandler)
{
    session_refuse(REASON_CALLBACK);
    dispatch_wait_argument(errhandler, sizeof *errhandler);
    dispatch_enter();
    return dispatch_leave(real.MPI_Session_create_errhandler(function, errhandler));
}

/* Its query function runs inside MPI_Wait and MPI_Test (MPI 4.1, 13.2). */
int entry_MPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                             MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
    begin_expect_callbacks();
    dispatch_enter();
    return dispatch_leave(real.MPI_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request));
}

/* A key that MPI makes for itself (ROMIO) comes from inside it, and its functions
 * touch no memory of the program. */
int entry_MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                                 MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                                 void *extra_state)
{
    if (!gate_is_inside())
        session_expect_type_functions();
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
    datatype_forget();
    if (session_has_type_functions())
        transfer_wait_due();
    dispatch_wait_argument(datatype, sizeof *datatype);
    dispatch_enter();
    return dispatch_leave(real.MPI_Type_free(datatype));
}
