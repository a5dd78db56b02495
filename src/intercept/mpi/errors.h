/* SPDX-License-Identifier: MIT */
/* Errors of ops, which come after their call has returned. A communicator with
 * MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT ends the job inside MPI's own test;
 * with MPI_ERRORS_RETURN the code is kept here and returned by the next MPI
 * call; communicators with a handler of the program's own are passed. */
#ifndef INTERCEPT_MPI_ERRORS_H
#define INTERCEPT_MPI_ERRORS_H

#include <stdbool.h>

#include "abi.h"

/* An op failed with this code. Whoever tests it. */
void errors_keep(int code);

/* The oldest code not yet returned, or MPI_SUCCESS. */
int errors_take(void);

/* The program has made an error handler of its own: from now on ask each
 * communicator before an op. */
void errors_handlers_exist(void);

/* May an error of this communicator come late? Inside the gate. */
bool errors_may_come_late(MPI_Comm comm);

#endif
