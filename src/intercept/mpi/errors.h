/* SPDX-License-Identifier: MIT */
/* Errors of ops, which come after their call has returned. A communicator with
 * MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT ends the job inside MPI's own test;
 * with MPI_ERRORS_RETURN the code is kept here and returned by the next MPI
 * call; a program with handlers of its own is passed. */
#ifndef INTERCEPT_MPI_ERRORS_H
#define INTERCEPT_MPI_ERRORS_H

#include "abi.h"

/* An op failed with this code. Whoever tests it. */
void errors_keep(int code);

/* The oldest code not yet returned, or MPI_SUCCESS. */
int errors_take(void);

/* What a call returns: its own result, or when that is MPI_SUCCESS a late error. */
int errors_or(int result);

#endif
