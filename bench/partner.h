/* SPDX-License-Identifier: MIT */
/* Ranks in pairs: one of the first half with one of the second, so that with several ranks per host each pair lies
 * across two hosts. Every pair does the same at the same time. Two ranks are one pair: 0 and 1. */
#ifndef BENCH_PARTNER_H
#define BENCH_PARTNER_H

#include <mpi.h>
#include <stdbool.h>

struct partner {
    int rank; /* this one */
    int peer;
    bool is_first; /* this one sends before it receives */
};

/* False where a rank would have no partner. */
static inline bool partner_find(struct partner *partner)
{
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &partner->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner->is_first = partner->rank < size / 2;
    partner->peer = partner->is_first ? partner->rank + size / 2 : partner->rank - size / 2;
    return size % 2 == 0;
}

#endif
