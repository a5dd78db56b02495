/* SPDX-License-Identifier: MIT */
/* What the ranks of MPI_COMM_WORLD offer each other in the store of keys and values that their launcher keeps for
 * MPI_Init, which is also where MPI looks for its peers' addresses. Nothing reaches another rank but through the
 * launcher, so that a rank that knows nothing of it is not disturbed. The thread in MPI_Init alone. */
#ifndef JOB_STORE_H
#define JOB_STORE_H

#include <stdbool.h>

/* Before MPI's MPI_Init: offers this text (fingerprint.h), which stays where it is.
 * speaks_pmi: does this process's MPI library speak PMI where its environment says so? */
void store_offer(const char *text, bool speaks_pmi);

/* After MPI's MPI_Init: is what every rank has offered there for all, and will no more come? Else nothing is known. The
 * same on all ranks that have offered something. */
bool store_is_settled(void);

/* After MPI's MPI_Init: what the launcher calls the processes that it started together, the same on all of them; ""
 * where it has no name, or was not asked. */
const char *store_launch(void);

/* Once it is settled: has that rank offered the same text? Never waits for a rank. */
bool store_is_same(int rank);

#endif
