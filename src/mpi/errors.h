/* SPDX-License-Identifier: MIT */
/* Errors of ops, which come after their call has returned. They are raised on the
 * communicator of that call: with MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT the job
 * ends there; with MPI_ERRORS_RETURN the code is kept (op/late_errors.h) and returned by
 * a later call; a program with handlers of its own is passed. */
#ifndef MPI_ERRORS_H
#define MPI_ERRORS_H

#include <stdbool.h>

#include "abi.h"

/* Where errors of an op belong. MPI_Test raises them on the request's communicator, or (MPICH 4.0, Intel MPI) on
 * MPI_COMM_WORLD: then is_elsewhere says that this one has another handler, and is_fatal that its handler ends the job.
 * Asked when the op begins: another thread may free the communicator meanwhile. */
struct errors_home {
    MPI_Comm comm;
    bool is_elsewhere;
    bool is_fatal;
};

/* Gives back what MPI_Comm_get_errhandler() has given. */
void errors_handler_give_back(MPI_Errhandler handler);

/* Inside the gate. `comm` null: unknown (MPI_Mrecv), the same as MPI_COMM_WORLD. */
struct errors_home errors_home_of(MPI_Comm comm);

/* Until errors_unmute() no error is raised on MPI_COMM_WORLD, where MPI would raise that of any request; not where
 * another thread would see it, or lose what it sets. Inside the gate. */
struct errors_muted {
    bool is_muted;
    MPI_Errhandler world;
};
struct errors_muted errors_mute(void);
void errors_unmute(const struct errors_muted *muted);

/* MPI_Test of a request that only Lapwing knows: an error is not raised on MPI_COMM_WORLD where it does not belong
 * there. Inside the gate. */
int errors_test(const struct errors_home *home, MPI_Request *request, int *is_over, MPI_Status *status);

/* The same; an error is raised on its communicator, as the program's own call would have done. */
int errors_test_and_raise(const struct errors_home *home, MPI_Request *request, int *is_over, MPI_Status *status);

#endif
