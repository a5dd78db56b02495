/* SPDX-License-Identifier: MIT */
/* Elements with gaps, for collectives that are cut into bytes: other ranks may name the same data by another type, and
 * count it otherwise (MPI 4.1, 6.4). Such data is packed before, or unpacked afterwards, in memory of our own. */
#ifndef MPI_COLLECTIVE_STAGING_H
#define MPI_COLLECTIVE_STAGING_H

#include "mpi/collective/collective_call.h"

/* NULL where the elements have no gaps. */
struct collective_staging {
    char *send;
    char *receive;
};

/* Lets `work` use packed data where it must. Inside the gate, one thread at a time, as the next. */
void collective_staging_begin(struct collective_staging *staging, const struct collective_call *call,
                              struct collective_work *work);

/* Gives the program what has come. */
void collective_staging_end(struct collective_staging *staging, const struct collective_call *call,
                            const struct collective_work *work, bool has_come);

#endif
