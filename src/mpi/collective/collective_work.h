/* SPDX-License-Identifier: MIT */
/* One collective as MPI carries it out: cut into pieces, each a nonblocking collective of its own. */
#ifndef MPI_COLLECTIVE_WORK_H
#define MPI_COLLECTIVE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "mpi/block_lists.h"
#include "mpi/collective/collective_cut.h"
#include "mpi/collective/collective_local.h"
#include "mpi/collective/collective_parts.h"

/* From GATHER to REDUCE_SCATTER_BLOCK: with a block for each rank. From REDUCE_SCATTER_BLOCK on: reductions. From
 * NEIGHBOR_ALLGATHER to ALLGATHERV, and REDUCE_SCATTER: go as they were given, lists and all (but for ALLGATHERV in
 * pieces); to ALLTOALLW, no rank knows how much all of them move; to NEIGHBOR_ALLTOALLW, blocks are of neighbors. */
enum collective_work_function {
    COLLECTIVE_NEIGHBOR_ALLGATHER,
    COLLECTIVE_NEIGHBOR_ALLGATHERV,
    COLLECTIVE_NEIGHBOR_ALLTOALL,
    COLLECTIVE_NEIGHBOR_ALLTOALLV,
    COLLECTIVE_NEIGHBOR_ALLTOALLW,
    COLLECTIVE_GATHERV,
    COLLECTIVE_SCATTERV,
    COLLECTIVE_ALLTOALLV,
    COLLECTIVE_ALLTOALLW,
    COLLECTIVE_ALLGATHERV,
    COLLECTIVE_BCAST,
    COLLECTIVE_GATHER,
    COLLECTIVE_SCATTER,
    COLLECTIVE_ALLGATHER,
    COLLECTIVE_ALLTOALL,
    COLLECTIVE_REDUCE_SCATTER_BLOCK,
    COLLECTIVE_REDUCE,
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_SCAN,
    COLLECTIVE_EXSCAN,
    COLLECTIVE_REDUCE_SCATTER,
};

/* Functions whose calls are counted: those for which collective_work_differs(), and more between two groups. */
enum { COLLECTIVE_WORK_COUNTED = COLLECTIVE_SCATTER + 1 };

/* Functions of which a rank may have to pack its data (collective_staging.h), and fewer. */
enum { COLLECTIVE_WORK_STAGED = COLLECTIVE_ALLTOALL + 1 };

struct collective_work {
    enum collective_work_function function;
    MPI_Comm comm; /* one on which only Lapwing communicates (collective_comm.h) */
    int size;      /* of it */
    int root;
    /* What is reduced; else bytes are moved, of whatever type. */
    MPI_Op op;
    MPI_Datatype datatype;
    MPI_Count count;
    int64_t extent_bytes;
    /* Of each block: what one rank has for one other, or for all. */
    uint64_t block_bytes;
    uint64_t send_stride_bytes; /* from block to block on this rank, no less than that */
    uint64_t receive_stride_bytes;
    const void *send; /* or MPI_IN_PLACE */
    void *receive;
    /* It goes in one piece, as the program gave it. has_large_counts: the function is the one for large counts. */
    bool is_given;
    bool has_large_counts;
    bool is_local;  /* each rank carries the reduction out itself (collective_local.h) */
    bool is_by_mpi; /* as there */
    struct block_lists_side sent;
    struct block_lists_side received;
    /* Its blocks differ in length, and each piece has a part of each; else 0. block_bytes is all of them together. */
    uint64_t longest_bytes;
    struct collective_parts *blocks;
    int *places; /* of the blocks of each piece, or NULL (collective_places.h) */
    struct collective_cut cut;
    /* In the order in which they go (collective_cut_piece()), `started` have been started, and `ended` are over. */
    uint32_t started;
    uint32_t ended;
    MPI_Request requests[COLLECTIVE_CUT_PIECES_MAX];
    struct collective_local sums[COLLECTIVE_CUT_PIECES_MAX]; /* where is_local: in the same order */
};

static inline bool collective_work_has_blocks(enum collective_work_function function)
{
    return function >= COLLECTIVE_GATHER && function <= COLLECTIVE_REDUCE_SCATTER_BLOCK;
}

static inline bool collective_work_is_neighborhood(enum collective_work_function function)
{
    return function <= COLLECTIVE_NEIGHBOR_ALLTOALLW;
}

/* Its calls go in one piece, as the program gave them; MPI_Allgatherv's may be cut all the same. */
static inline bool collective_work_is_listed(enum collective_work_function function)
{
    return function <= COLLECTIVE_ALLGATHERV || function == COLLECTIVE_REDUCE_SCATTER;
}

/* Ranks know their own counts alone. */
static inline bool collective_work_differs(enum collective_work_function function)
{
    return function <= COLLECTIVE_ALLTOALLW;
}

/* Then its elements are of a datatype. */
static inline bool collective_work_reduces(enum collective_work_function function)
{
    return function >= COLLECTIVE_REDUCE_SCATTER_BLOCK;
}

/* One rank sends to all, or receives from all. */
static inline bool collective_work_is_rooted(enum collective_work_function function)
{
    return function == COLLECTIVE_BCAST || function == COLLECTIVE_GATHER || function == COLLECTIVE_SCATTER ||
           function == COLLECTIVE_REDUCE || function == COLLECTIVE_GATHERV || function == COLLECTIVE_SCATTERV;
}

/* Fills `cut` in from the rest. is_whole, has_edges: see collective_cut_make_whole(). */
void collective_work_cut(struct collective_work *work, bool is_whole, bool has_edges);

/* After that: fills `places` in, to be freed, where MPI takes a list of places better than a type with gaps. All ranks
 * decide alike. */
void collective_work_list_places(struct collective_work *work);

/* How much of each block, in bytes, the first pieces make up together. */
uint64_t collective_work_end(const struct collective_work *work, uint32_t pieces);

/* How much of each block, in bytes, is there from its begin on. */
static inline uint64_t collective_work_come(const struct collective_work *work)
{
    return collective_work_end(work, collective_cut_without_gap(&work->cut, work->ended));
}

/* Starts the next piece. Inside the gate; under the lock of collective_pieces.h. As the next one. */
int collective_work_start(struct collective_work *work);

/* MPI is through with the piece after those that are over: it is over, too. has_come: without an error. */
int collective_work_end_piece(struct collective_work *work, bool has_come);

#endif
