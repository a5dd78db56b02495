/* SPDX-License-Identifier: MIT */
/* The store of PMIx, which Open MPI's launchers keep, and Slurm's where they are built with it. For store.c, which says
 * what the functions do. */
#ifndef JOB_PMIX_H
#define JOB_PMIX_H

#include <stdbool.h>

void pmix_offer(void);

/* Once what was offered is there. */
bool pmix_is_same(int rank);

#endif
