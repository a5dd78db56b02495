/* SPDX-License-Identifier: MIT */
/* The store of launchers that speak PMI-1 or PMI-2 on the descriptor in PMI_FD: Hydra (MPICH, Intel MPI), and Slurm
 * with --mpi=pmi2. For store.c, which says what the functions do. */
#ifndef JOB_PMI_H
#define JOB_PMI_H

#include <stdbool.h>

void pmi_offer(void);

/* After MPI's MPI_Init: nothing stands before write() any more. */
void pmi_end(void);

/* Once what was offered is there. */
bool pmi_is_same(int rank);

#endif
