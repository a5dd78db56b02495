/* SPDX-License-Identifier: MIT */
/* Processes of other worlds: spawned, or connected to. */
#ifndef MPI_PROCESS_WORLDS_H
#define MPI_PROCESS_WORLDS_H

/* They may speak with this one from now on. Outside the gate. */
void worlds_meet(void);

#endif
