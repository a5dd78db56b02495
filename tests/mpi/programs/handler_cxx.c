/* SPDX-License-Identifier: MIT */
/* Claim: an error handler that Open MPI's C++ bindings have made is called for a late error by the thread that calls
 * MPI. (MPI::Comm::Create_errhandler is called from C: its result, which is no plain data for C++, comes in memory that
 * the caller names, as any long struct.)
 * passes: callback
 * quick: openmpi4 userfaultfd */
#include <pthread.h>

#include "check.h"
#include "cxx_bindings.h"

/* Of the class: a table of functions, then the handle. */
struct cxx_handler {
    void *functions;
    MPI_Errhandler handler;
    void *unused[2];
};
typedef void cxx_function(void *comm, int *error, ...);
typedef struct cxx_handler cxx_create(cxx_function *function);

static int calls;
static pthread_t caller;

static void note_error(void *comm, int *error, ...)
{
    (void)comm, (void)error;
    calls++;
    caller = pthread_self();
}

int main(int argc, char **argv)
{
    cxx_create *create = (cxx_create *)cxx_bindings_find("_ZN3MPI4Comm17Create_errhandlerEPFvRS0_PizE");
    if (create == NULL)
        return check_skip("this MPI has no C++ bindings");
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, create(note_error).handler);
    if (check_rank() == 1) {
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES / 2, 1, 1);
        check(calls == 1, "the receive has called the handler");
        check(pthread_equal(caller, pthread_self()), "in its own thread");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return check_end();
}
