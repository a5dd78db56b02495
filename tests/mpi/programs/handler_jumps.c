/* SPDX-License-Identifier: MIT */
/* Claim: an error handler may jump out of a call that duplicates a communicator; other threads call MPI afterwards.
 * ranks: 1
 * quick: openmpi4 mpich4 userfaultfd */
#include <pthread.h>
#include <setjmp.h>

#include "check.h"

static jmp_buf before;

static void jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    longjmp(before, 1);
}

static void duplicate_none(void)
{
    MPI_Comm copy;
    if (setjmp(before) != 0)
        return;
    MPI_Comm_dup(MPI_COMM_NULL, &copy);
    check(false, "the handler is called");
}

static void *duplicate(void *unused)
{
    MPI_Comm copy;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &copy) == MPI_SUCCESS, "MPI_Comm_dup");
    MPI_Comm_free(&copy);
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Errhandler handler;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    duplicate_none();
    pthread_create(&thread, NULL, duplicate, NULL);
    pthread_join(thread, NULL);
    MPI_Errhandler_free(&handler);
    return check_end();
}
