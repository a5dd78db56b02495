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

/* One poll. Inside the gate. */
void progress_poll(void);

/* A communicator of this process alone, whose errors are returned. Once prepared; messages on it use tag
 * PROGRESS_COPY_TAG. Inside the gate. */
enum { PROGRESS_RANK = 0, PROGRESS_COPY_TAG = 1 };
MPI_Comm progress_comm(void);

/* Copies by a message to itself on that communicator what only MPI can read or write: types with gaps (MPICH 4.0's
 * MPI_Pack and MPI_Unpack stop in the middle of a struct of two types), and a device's memory. One thread at a time:
 * under MPI_THREAD_MULTIPLE two would get each other's. Returns what MPI says. */
struct progress_copied {
    void *buffer;
    int count;
    MPI_Datatype type;
};
int progress_copy(struct progress_copied from, struct progress_copied to);

/* Before MPI_Finalize, once the engine is gone. is_needed: its communicator is, until MPI_Finalize ends. */
void progress_finish(bool is_needed);

#endif
