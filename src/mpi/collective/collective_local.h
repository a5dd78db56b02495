/* SPDX-License-Identifier: MIT */
/* A sum of few ranks that each of them adds up itself, from what it gathers of all. With two ranks no way sends less,
 * while MPI's own may send twice as much: Open MPI's MPI_Iallreduce, below four ranks, reduces to one rank and then
 * broadcasts from it (34 ms for 2 MiB over 1 Gb/s, 17.5 for its MPI_Allreduce and for this). */
#ifndef MPI_COLLECTIVE_LOCAL_H
#define MPI_COLLECTIVE_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

/* A part of the elements of one MPI_Allreduce. Written under the lock of collective_pieces.h. */
struct collective_local {
    const char *send; /* what this rank has */
    char *receive;    /* where the sum goes; may be the same */
    int ranks;
    int count;
    MPI_Datatype datatype;
    uint64_t length_bytes;
    char *gathered; /* of all ranks, in their order */
    bool is_copy;   /* where from: op/copies.h */
    bool is_by_mpi; /* only MPI may write what it receives: the memory may be a device's */
};

/* Is a reduction of so many bytes carried out so? The same answer on all ranks. */
bool collective_local_suits(MPI_Op op, MPI_Datatype datatype, uint64_t length_bytes, int ranks);

/* Begins to gather. The rest is filled in from what the caller has filled in. */
int collective_local_start(struct collective_local *part, MPI_Comm comm, MPI_Request *request);

/* MPI is through with it: adds up what was gathered. Where that failed nothing is written, and the memory stays MPI's:
 * some of its messages may still be under way. */
int collective_local_end(struct collective_local *part, bool has_come);

#endif
