/* SPDX-License-Identifier: MIT */
/* Claim: an error handler of the program's own that is made before MPI_Init is called for a late error, by the thread
 * that calls MPI, and outside of any wait for a message.
 * passes: callback
 * quick: mpich4 openmpi5 mpi5abi */
#include <pthread.h>

#include "check.h"

/* Intel MPI 2021 begins no world once it has a session. */
#if (MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)) && !defined(I_MPI_NUMVERSION)
static int calls;
static pthread_t caller;

static void note_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    calls++;
    caller = pthread_self();
}

int main(int argc, char **argv)
{
    MPI_Session session; /* MPICH makes no handler before */
    MPI_Errhandler handler;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return 77;
    MPI_Comm_create_errhandler(note_error, &handler);
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (check_rank() == 1) {
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES / 2, 1, 1);
        check(calls == 1, "the receive has called the handler");
        check(pthread_equal(caller, pthread_self()), "in its own thread");
    }
    MPI_Errhandler_free(&handler);
    MPI_Session_finalize(&session);
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has no session before the world");
}
#endif
