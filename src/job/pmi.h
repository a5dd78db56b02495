/* SPDX-License-Identifier: MIT */
/* The store of MPICH's and Intel MPI's launcher (Hydra): PMI-1, lines of text on the descriptor in PMI_FD (MPICH,
 * src/pmi/simple/simple_pmi.c; Hydra, src/pm/hydra). For store.c, which says what the functions do. */
#ifndef JOB_PMI_H
#define JOB_PMI_H

#include <stdbool.h>

void pmi_offer(const char *text);
bool pmi_is_settled(void);
bool pmi_is_same(int rank);

#endif
