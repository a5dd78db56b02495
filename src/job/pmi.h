/* SPDX-License-Identifier: MIT */
/* The store of MPICH's and Intel MPI's launcher (Hydra): PMI-1, lines of text on the descriptor in PMI_FD (MPICH,
 * src/pmi/simple/simple_pmi.c; Hydra, src/pm/hydra). For store.c, which says what the functions do. */
#ifndef JOB_PMI_H
#define JOB_PMI_H

#include <stdbool.h>

enum { PMI_NAME_BYTES = 257 }; /* Hydra's longest is 256 */

/* How to ask there. */
struct pmi {
    const char *text; /* NULL: nothing was offered */
    int descriptor;
    int rank;
    char store[PMI_NAME_BYTES];
};

void pmi_offer(struct pmi *pmi, const char *text);
bool pmi_is_settled(const struct pmi *pmi);
bool pmi_is_same(const struct pmi *pmi, int rank);

#endif
