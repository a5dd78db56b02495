/* SPDX-License-Identifier: MIT */
#include "mpi/errors.h"

#include "op/busy.h"
#include "mpi/real.h"

/* One reference comes with each answer of MPI_Comm_get_errhandler (MPI 4.1, 9.3.1), but for those that MPI has made. */
void errors_handler_give_back(MPI_Errhandler handler)
{
    bool is_predefined = handler == abi_handles.errors_are_fatal || handler == abi_handles.errors_return ||
                         handler == abi_handles.errors_abort;
    if (!is_predefined)
        real.MPI_Errhandler_free(&handler);
}

static MPI_Errhandler errors_handler_of(MPI_Comm comm)
{
    MPI_Errhandler handler = abi_handles.errors_return;
    real.MPI_Comm_get_errhandler(comm, &handler);
    return handler;
}

struct errors_home errors_home_of(MPI_Comm comm)
{
    struct errors_home home = {.comm = comm};
    bool is_at_home = comm == abi_handles.comm_world || comm == abi_handles.comm_null;
    /* Another thread would see, or lose, what is set for the test. */
    if (!ABI_TESTS_RAISE_ON_WORLD || is_at_home || busy_is_shared())
        return home;
    MPI_Errhandler world = errors_handler_of(abi_handles.comm_world);
    MPI_Errhandler own = errors_handler_of(comm);
    home.is_elsewhere = world != own;
    home.is_fatal = own != abi_handles.errors_return;
    errors_handler_give_back(world);
    errors_handler_give_back(own);
    return home;
}

/* Below MPI_THREAD_MULTIPLE nobody else is in MPI. */
struct errors_muted errors_mute(void)
{
    struct errors_muted muted = {.is_muted = ABI_LOOKS_RAISE_ON_WORLD && !busy_is_shared()};
    if (!muted.is_muted)
        return muted;
    muted.world = errors_handler_of(abi_handles.comm_world);
    real.MPI_Comm_set_errhandler(abi_handles.comm_world, abi_handles.errors_return);
    return muted;
}

void errors_unmute(const struct errors_muted *muted)
{
    if (!muted->is_muted)
        return;
    real.MPI_Comm_set_errhandler(abi_handles.comm_world, muted->world);
    errors_handler_give_back(muted->world);
}

static int errors_test_elsewhere(MPI_Request *request, int *is_over, MPI_Status *status)
{
    struct errors_muted muted = errors_mute();
    int result = real.MPI_Test(request, is_over, status);
    errors_unmute(&muted);
    return result;
}

int errors_test(const struct errors_home *home, MPI_Request *request, int *is_over, MPI_Status *status)
{
    return home->is_elsewhere ? errors_test_elsewhere(request, is_over, status)
                              : real.MPI_Test(request, is_over, status);
}

int errors_test_and_raise(const struct errors_home *home, MPI_Request *request, int *is_over, MPI_Status *status)
{
    int result = errors_test(home, request, is_over, status);
    if (result != MPI_SUCCESS && home->is_elsewhere && home->is_fatal)
        real.MPI_Comm_call_errhandler(home->comm, result);
    return result;
}
