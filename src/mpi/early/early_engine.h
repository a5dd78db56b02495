/* SPDX-License-Identifier: MIT */
/* The engine's side of early receives: which messages it takes, and when. What each does is said in mpi/early.h. */
#ifndef MPI_EARLY_EARLY_ENGINE_H
#define MPI_EARLY_EARLY_ENGINE_H

#include "abi.h"
#include "mpi/early.h"
#include "mpi/message/message.h"

void early_engine_poll(void);
void early_engine_pause(void);
void early_engine_resume(const struct message *receive, int result);
void early_engine_unlearn(MPI_Comm comm);
int early_engine_end_comm(MPI_Comm *comm, early_end_fn *end);
void early_engine_finish(void);

#endif
