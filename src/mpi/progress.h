/* SPDX-License-Identifier: MIT */
/* How the engine lets MPI progress without completing a request of the program:
 * it tests one of its own, which is never over (MPI 4.1, 3.7.4: any call may
 * progress anything). */
#ifndef MPI_PROGRESS_H
#define MPI_PROGRESS_H

#include <stdbool.h>

#include "abi.h"

/* Makes the request, the first time. Inside an MPI call of the program. False when MPI refuses. */
bool progress_prepare(void);

/* One look. Inside the gate. */
void progress_poll(void);

/* A communicator of this process alone, whose errors are returned. Once prepared; messages on it
 * use any tag but 0. Inside the gate. */
MPI_Comm progress_comm(void);

/* Before MPI_Finalize, once the engine is gone. is_needed: its communicator is, until MPI_Finalize ends. */
void progress_finish(bool is_needed);

#endif
