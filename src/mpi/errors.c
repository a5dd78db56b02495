/* SPDX-License-Identifier: MIT */
#include "mpi/errors.h"

#include <stdatomic.h>

#include "base/lock.h"
#include "op/busy.h"
#include "mpi/real.h"
#include "record/record.h"

/* A program whose ops fail faster than it calls MPI hears of the first ones. */
enum { CODES_MAX = 64 };

static struct {
    struct base_lock lock;
    _Atomic unsigned count; /* read without the lock to skip it */
    int codes[CODES_MAX];
} errors;

void errors_keep(int code)
{
    record_count(RECORD_ERRORS_LATE, 1);
    base_lock_take(&errors.lock);
    unsigned count = atomic_load_explicit(&errors.count, memory_order_relaxed);
    if (count < CODES_MAX) {
        errors.codes[count] = code;
        atomic_store_explicit(&errors.count, count + 1, memory_order_release);
        busy_raise(); /* so that the next call does not go straight to MPI */
    }
    base_lock_release(&errors.lock);
}

static int errors_pop(void)
{
    unsigned count = atomic_load_explicit(&errors.count, memory_order_relaxed);
    if (count == 0)
        return MPI_SUCCESS;
    int code = errors.codes[0];
    for (unsigned i = 1; i < count; i++)
        errors.codes[i - 1] = errors.codes[i];
    atomic_store_explicit(&errors.count, count - 1, memory_order_relaxed);
    busy_lower();
    return code;
}

int errors_take(void)
{
    /* acquire: a count seen here comes with its code. */
    if (atomic_load_explicit(&errors.count, memory_order_acquire) == 0)
        return MPI_SUCCESS;
    base_lock_take(&errors.lock);
    int code = errors_pop();
    base_lock_release(&errors.lock);
    return code;
}

int errors_or(int result)
{
    return result == MPI_SUCCESS ? errors_take() : result;
}

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

/* Below MPI_THREAD_MULTIPLE: nobody else is in MPI. */
static int errors_test_elsewhere(MPI_Request *request, int *is_over, MPI_Status *status)
{
    MPI_Errhandler world = errors_handler_of(abi_handles.comm_world);
    real.MPI_Comm_set_errhandler(abi_handles.comm_world, abi_handles.errors_return);
    int result = real.MPI_Test(request, is_over, status);
    real.MPI_Comm_set_errhandler(abi_handles.comm_world, world);
    errors_handler_give_back(world);
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
