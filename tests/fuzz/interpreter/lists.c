/* SPDX-License-Identifier: MIT */
/* Collectives whose counts differ from rank to rank, in a group, between two, and among neighbors. */
#include <string.h>

#include "collectives.h"

enum { MEMBERS_MAX = 64, NEIGHBORS_MAX = 2, PARTS = 10 };

struct small_lists {
    int counts[MEMBERS_MAX];
    int displacements[MEMBERS_MAX];
    int byte_displacements[MEMBERS_MAX];
};

struct large_lists {
    MPI_Count counts[MEMBERS_MAX];
    MPI_Aint displacements[MEMBERS_MAX];
    MPI_Aint byte_displacements[MEMBERS_MAX];
};

/* The same twice; a call looks at one of the two. */
struct side {
    struct small_lists small;
    struct large_lists large;
};

/* own: what the rank itself has for all. */
struct lists {
    int own;
    struct side sent;
    struct side received;
    MPI_Datatype types[MEMBERS_MAX];
};

static struct lists blocking_lists;
static struct lists started_lists[REQUESTS_MAX];

struct lists *lists_of_request(int64_t request)
{
    return request < 0 ? &blocking_lists : &started_lists[request];
}

void lists_spoil(struct lists *lists)
{
    memset(lists, 0x7F, sizeof *lists);
}

static void side_set(struct side *side, int i, int count, int displacement, MPI_Aint extent)
{
    side->small.counts[i] = count;
    side->small.displacements[i] = displacement;
    side->small.byte_displacements[i] = (int)(displacement * extent);
    side->large.counts[i] = count;
    side->large.displacements[i] = displacement;
    side->large.byte_displacements[i] = displacement * extent;
}

static MPI_Aint types_set(const struct collective *c)
{
    MPI_Aint lower;
    MPI_Aint extent;
    for (int i = 0; i < MEMBERS_MAX; i++)
        c->lists->types[i] = c->type;
    MPI_Type_get_extent(c->type, &lower, &extent);
    return extent;
}

static int block_count(const struct collective *c, int step)
{
    bool is_short = c->count % 4 == 1 && step % 2 == 0;
    return is_short ? c->count / PARTS / PARTS : c->count - c->count / PARTS * (step % PARTS);
}

/* Where a block begins, with `behind` elements in those that lie before it. */
static int block_place(const struct collective *c, int size, int i, int behind)
{
    return c->count % 2 == 1 ? behind : (size - 1 - i) * c->count;
}

static int size_of_others(const struct collective *c)
{
    int is_between;
    int size;
    MPI_Comm_test_inter(c->comm, &is_between);
    (is_between ? MPI_Comm_remote_size : MPI_Comm_size)(c->comm, &size);
    return size;
}

/* From the last rank's to the first's, each of another length; of odd counts without room between them, and every
 * second one of a few elements. by_pair: as much for both of a pair; else as much as a rank has for all. */
static void lists_make(const struct collective *c, bool by_pair)
{
    struct lists *l = c->lists;
    MPI_Aint extent = types_set(c);
    int size = size_of_others(c);
    int rank;
    MPI_Comm_rank(c->comm, &rank);
    l->own = block_count(c, rank);
    int behind = 0;
    for (int i = size - 1; i >= 0; i--) {
        int count = block_count(c, by_pair ? rank + i : i);
        side_set(&l->received, i, count, block_place(c, size, i, behind), extent);
        behind += count;
    }
    l->sent = l->received;
}

int lists_gatherv(const struct collective *c)
{
    lists_make(c, false);
    struct lists *l = c->lists;
#define GATHERV(of) \
    c->in, l->own, c->type, c->out, l->received.of.counts, l->received.of.displacements, c->type, c->root, c->comm
    return COLLECTIVE_LISTED(Gatherv, Igatherv, GATHERV);
}

int lists_scatterv(const struct collective *c)
{
    lists_make(c, false);
    struct lists *l = c->lists;
#define SCATTERV(of) \
    c->in, l->sent.of.counts, l->sent.of.displacements, c->type, c->out, l->own, c->type, c->root, c->comm
    return COLLECTIVE_LISTED(Scatterv, Iscatterv, SCATTERV);
}

#define ALLGATHERV(of) \
    c->in, l->own, c->type, c->out, l->received.of.counts, l->received.of.displacements, c->type, c->comm

int lists_allgatherv(const struct collective *c)
{
    lists_make(c, false);
    struct lists *l = c->lists;
    return COLLECTIVE_LISTED(Allgatherv, Iallgatherv, ALLGATHERV);
}

#define ALLTOALLV(of)                                                                           \
    c->in, l->sent.of.counts, l->sent.of.displacements, c->type, c->out, l->received.of.counts, \
        l->received.of.displacements, c->type, c->comm

int lists_alltoallv(const struct collective *c)
{
    lists_make(c, true);
    struct lists *l = c->lists;
    return COLLECTIVE_LISTED(Alltoallv, Ialltoallv, ALLTOALLV);
}

int lists_alltoallw(const struct collective *c)
{
    lists_make(c, true);
    struct lists *l = c->lists;
#define ALLTOALLW(of)                                                                                 \
    c->in, l->sent.of.counts, l->sent.of.byte_displacements, l->types, c->out, l->received.of.counts, \
        l->received.of.byte_displacements, l->types, c->comm
    return COLLECTIVE_LISTED(Alltoallw, Ialltoallw, ALLTOALLW);
}

int lists_reduce_scatter(const struct collective *c)
{
    lists_make(c, false);
    struct lists *l = c->lists;
#define REDUCE_SCATTER(of) c->in, c->out, l->received.of.counts, c->type, c->operation, c->comm
    return COLLECTIVE_LISTED(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER);
}

/* --- on a ring (types.c) --- */

struct neighbors {
    int sources[NEIGHBORS_MAX];
    int targets[NEIGHBORS_MAX];
};

static struct neighbors neighbors_ask(MPI_Comm comm)
{
    struct neighbors ring = {{0}, {0}};
    int kind;
    int weights[NEIGHBORS_MAX];
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        MPI_Cart_shift(comm, 0, 1, &ring.sources[0], &ring.sources[1]);
        memcpy(ring.targets, ring.sources, sizeof ring.targets);
    } else {
        MPI_Dist_graph_neighbors(comm, NEIGHBORS_MAX, ring.sources, weights, NEIGHBORS_MAX, ring.targets, weights);
    }
    return ring;
}

static int neighbor_count(const struct collective *c, int neighbor, int rank)
{
    return neighbor < 0 ? 0 : block_count(c, rank + neighbor);
}

/* The k-th neighbor's block is the k-th of as much as c->count each. by_pair: as in lists_make(). */
static void neighbors_list(const struct collective *c, bool by_pair)
{
    struct lists *l = c->lists;
    struct neighbors ring = neighbors_ask(c->comm);
    MPI_Aint extent = types_set(c);
    int rank;
    MPI_Comm_rank(c->comm, &rank);
    l->own = block_count(c, rank);
    for (int i = 0; i < NEIGHBORS_MAX; i++) {
        side_set(&l->sent, i, neighbor_count(c, ring.targets[i], rank), i * c->count, extent);
        side_set(&l->received, i, neighbor_count(c, ring.sources[i], by_pair ? rank : 0), i * c->count, extent);
    }
}

int lists_neighbor_allgatherv(const struct collective *c)
{
    neighbors_list(c, false);
    struct lists *l = c->lists;
    return COLLECTIVE_LISTED(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV);
}

int lists_neighbor_alltoallv(const struct collective *c)
{
    neighbors_list(c, true);
    struct lists *l = c->lists;
    return COLLECTIVE_LISTED(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALLV);
}

/* Displacements in bytes are of one type in both of its forms. */
int lists_neighbor_alltoallw(const struct collective *c)
{
    neighbors_list(c, true);
    struct lists *l = c->lists;
#define NEIGHBOR_ALLTOALLW(of)                                                                           \
    c->in, l->sent.of.counts, l->sent.large.byte_displacements, l->types, c->out, l->received.of.counts, \
        l->received.large.byte_displacements, l->types, c->comm
    return COLLECTIVE_LISTED(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_ALLTOALLW);
}
