/* SPDX-License-Identifier: MIT */
/* Whether all ranks of MPI_COMM_WORLD have this very Lapwing, with the same options. */
#ifndef MPI_AGREEMENT_H
#define MPI_AGREEMENT_H

#include <stdbool.h>

/* The same answer on every rank, from MPI_Init on: false where it is not known. Processes of other worlds (spawned, or
 * connected to) have an answer of their own. Any thread. */
bool agreement_is_whole(void);

/* Then: do all of them lie on one host? As their launchers say. Any thread. */
bool agreement_is_on_one_host(void);

/* Did this rank ask? Not where nothing depends on the answer. */
bool agreement_is_sought(void);

/* Before MPI's initialisation. */
void agreement_offer(void);

/* Right after it, before the program goes on; is_able: this rank can do its part. */
void agreement_settle(int rank, int size, bool is_able);

#endif
