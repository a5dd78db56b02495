/* SPDX-License-Identifier: MIT */
/* Collectives, blocking and nonblocking. */
#include "machine.h"

#include <string.h>

/* One call's arguments. `in` is MPI_IN_PLACE where a program says buffer -1. */
struct collective {
    void *in;
    void *out;
    int count;
    MPI_Datatype type;
    int root;
    MPI_Op operation;
    MPI_Comm comm;
    MPI_Request *request;
};

typedef int collective_fn(const struct collective *);

static int barrier(const struct collective *c)
{
    return MPI_Barrier(c->comm);
}

static int bcast(const struct collective *c)
{
    return MPI_Bcast(c->out, c->count, c->type, c->root, c->comm);
}

static int reduce(const struct collective *c)
{
    return MPI_Reduce(c->in, c->out, c->count, c->type, c->operation, c->root, c->comm);
}

static int allreduce(const struct collective *c)
{
    return MPI_Allreduce(c->in, c->out, c->count, c->type, c->operation, c->comm);
}

static int gather(const struct collective *c)
{
    return MPI_Gather(c->in, c->count, c->type, c->out, c->count, c->type, c->root, c->comm);
}

static int scatter(const struct collective *c)
{
    return MPI_Scatter(c->in, c->count, c->type, c->out, c->count, c->type, c->root, c->comm);
}

static int allgather(const struct collective *c)
{
    return MPI_Allgather(c->in, c->count, c->type, c->out, c->count, c->type, c->comm);
}

static int alltoall(const struct collective *c)
{
    return MPI_Alltoall(c->in, c->count, c->type, c->out, c->count, c->type, c->comm);
}

static int scan(const struct collective *c)
{
    return MPI_Scan(c->in, c->out, c->count, c->type, c->operation, c->comm);
}

static int reduce_scatter(const struct collective *c)
{
    return MPI_Reduce_scatter_block(c->in, c->out, c->count, c->type, c->operation, c->comm);
}

static int ibarrier(const struct collective *c)
{
    return MPI_Ibarrier(c->comm, c->request);
}

static int ibcast(const struct collective *c)
{
    return MPI_Ibcast(c->out, c->count, c->type, c->root, c->comm, c->request);
}

static int ireduce(const struct collective *c)
{
    return MPI_Ireduce(c->in, c->out, c->count, c->type, c->operation, c->root, c->comm, c->request);
}

static int iallreduce(const struct collective *c)
{
    return MPI_Iallreduce(c->in, c->out, c->count, c->type, c->operation, c->comm, c->request);
}

static int igather(const struct collective *c)
{
    return MPI_Igather(c->in, c->count, c->type, c->out, c->count, c->type, c->root, c->comm, c->request);
}

static int iscatter(const struct collective *c)
{
    return MPI_Iscatter(c->in, c->count, c->type, c->out, c->count, c->type, c->root, c->comm, c->request);
}

static int iallgather(const struct collective *c)
{
    return MPI_Iallgather(c->in, c->count, c->type, c->out, c->count, c->type, c->comm, c->request);
}

static int ialltoall(const struct collective *c)
{
    return MPI_Ialltoall(c->in, c->count, c->type, c->out, c->count, c->type, c->comm, c->request);
}

static int iscan(const struct collective *c)
{
    return MPI_Iscan(c->in, c->out, c->count, c->type, c->operation, c->comm, c->request);
}

static int ireduce_scatter(const struct collective *c)
{
    return MPI_Ireduce_scatter_block(c->in, c->out, c->count, c->type, c->operation, c->comm, c->request);
}

/* --- with lists --- */

enum { MEMBERS_MAX = 64, LISTED = 10 }; /* LISTED + a function's number: the one with lists */

/* The blocks of the lists: from the last rank's to the first's, each of another length; of odd counts without room
 * between them, and every second one of a few elements. They end with the call, whose
 * nonblocking twin must not need them any longer. own: what the rank itself has for all. size: of the group that it has
 * blocks for. */
struct lists {
    int own;
    int size;
    int counts[MEMBERS_MAX];
    int displacements[MEMBERS_MAX];
    int byte_displacements[MEMBERS_MAX];
    MPI_Datatype types[MEMBERS_MAX];
};

static int block_count(const struct collective *c, int step)
{
    bool is_short = c->count % 4 == 1 && step % 2 == 0;
    return is_short ? c->count / LISTED / LISTED : c->count - c->count / LISTED * (step % LISTED);
}

/* Where a block begins, with `behind` elements in those that lie before it. */
static int block_place(const struct collective *c, int size, int i, int behind)
{
    return c->count % 2 == 1 ? behind : (size - 1 - i) * c->count;
}

static struct lists lists_of(const struct collective *c, bool is_by_pair)
{
    struct lists lists;
    MPI_Aint lower;
    MPI_Aint extent;
    int rank;
    int is_between;
    MPI_Comm_rank(c->comm, &rank);
    MPI_Comm_test_inter(c->comm, &is_between);
    (is_between ? MPI_Comm_remote_size : MPI_Comm_size)(c->comm, &lists.size);
    lists.own = block_count(c, rank);
    MPI_Type_get_extent(c->type, &lower, &extent);
    int behind = 0;
    for (int i = lists.size - 1; i >= 0; i--) {
        lists.counts[i] = block_count(c, is_by_pair ? rank + i : i);
        lists.displacements[i] = block_place(c, lists.size, i, behind);
        behind += lists.counts[i];
        lists.byte_displacements[i] = (int)(lists.displacements[i] * extent);
        lists.types[i] = c->type;
    }
    return lists;
}

static int gatherv(const struct collective *c)
{
    struct lists l = lists_of(c, false);
    return MPI_Gatherv(c->in, l.own, c->type, c->out, l.counts, l.displacements, c->type, c->root, c->comm);
}

static int scatterv(const struct collective *c)
{
    struct lists l = lists_of(c, false);
    return MPI_Scatterv(c->in, l.counts, l.displacements, c->type, c->out, l.own, c->type, c->root, c->comm);
}

static int allgatherv(const struct collective *c)
{
    struct lists l = lists_of(c, false);
    return MPI_Allgatherv(c->in, l.own, c->type, c->out, l.counts, l.displacements, c->type, c->comm);
}

static int alltoallv(const struct collective *c)
{
    struct lists l = lists_of(c, true);
    return MPI_Alltoallv(c->in, l.counts, l.displacements, c->type, c->out, l.counts, l.displacements, c->type,
                         c->comm);
}

static int alltoallw(const struct collective *c)
{
    struct lists l = lists_of(c, true);
    return MPI_Alltoallw(c->in, l.counts, l.byte_displacements, l.types, c->out, l.counts, l.byte_displacements,
                         l.types, c->comm);
}

static int reduce_scatter_lists(const struct collective *c)
{
    struct lists l = lists_of(c, false);
    return MPI_Reduce_scatter(c->in, c->out, l.counts, c->type, c->operation, c->comm);
}

/* --- on a ring (types.c) --- */

enum { NEIGHBORS_MAX = 2 };

/* The blocks of the neighbors: where the k-th of them may be, counted by c->count. */
struct ring {
    int rank;
    int source_count;
    int target_count;
    int sources[NEIGHBORS_MAX];
    int targets[NEIGHBORS_MAX];
    int displacements[NEIGHBORS_MAX];
    MPI_Aint byte_displacements[NEIGHBORS_MAX];
    MPI_Datatype types[NEIGHBORS_MAX];
};

static void ring_ask(const struct collective *c, struct ring *ring)
{
    int kind;
    int weights[NEIGHBORS_MAX];
    MPI_Topo_test(c->comm, &kind);
    MPI_Comm_rank(c->comm, &ring->rank);
    if (kind == MPI_CART) {
        ring->source_count = ring->target_count = NEIGHBORS_MAX;
        MPI_Cart_shift(c->comm, 0, 1, &ring->sources[0], &ring->sources[1]);
        memcpy(ring->targets, ring->sources, sizeof ring->targets);
    } else {
        MPI_Dist_graph_neighbors_count(c->comm, &ring->source_count, &ring->target_count, weights);
        MPI_Dist_graph_neighbors(c->comm, NEIGHBORS_MAX, ring->sources, weights, NEIGHBORS_MAX, ring->targets, weights);
    }
}

static struct ring ring_of(const struct collective *c)
{
    struct ring ring = {0};
    MPI_Aint lower;
    MPI_Aint extent;
    MPI_Type_get_extent(c->type, &lower, &extent);
    ring_ask(c, &ring);
    for (int i = 0; i < NEIGHBORS_MAX; i++) {
        ring.displacements[i] = i * c->count;
        ring.byte_displacements[i] = ring.displacements[i] * extent;
        ring.types[i] = c->type;
    }
    return ring;
}

/* As much for both of a pair; or as much as the neighbor has for all. */
static void ring_count(const struct collective *c, const int *neighbors, int rank, int counts[])
{
    for (int i = 0; i < NEIGHBORS_MAX; i++)
        counts[i] = neighbors[i] < 0 ? 0 : block_count(c, rank + neighbors[i]);
}

static int neighbor_allgather(const struct collective *c)
{
    return MPI_Neighbor_allgather(c->in, c->count, c->type, c->out, c->count, c->type, c->comm);
}

static int neighbor_alltoall(const struct collective *c)
{
    return MPI_Neighbor_alltoall(c->in, c->count, c->type, c->out, c->count, c->type, c->comm);
}

static int neighbor_allgatherv(const struct collective *c)
{
    struct ring ring = ring_of(c);
    int counts[NEIGHBORS_MAX];
    ring_count(c, ring.sources, 0, counts);
    return MPI_Neighbor_allgatherv(c->in, block_count(c, ring.rank), c->type, c->out, counts, ring.displacements,
                                   c->type, c->comm);
}

static int neighbor_alltoallv(const struct collective *c)
{
    struct ring ring = ring_of(c);
    int counts[NEIGHBORS_MAX];
    int own_counts[NEIGHBORS_MAX];
    ring_count(c, ring.sources, ring.rank, counts);
    ring_count(c, ring.targets, ring.rank, own_counts);
    return MPI_Neighbor_alltoallv(c->in, own_counts, ring.displacements, c->type, c->out, counts, ring.displacements,
                                  c->type, c->comm);
}

static int neighbor_alltoallw(const struct collective *c)
{
    struct ring ring = ring_of(c);
    int counts[NEIGHBORS_MAX];
    int own_counts[NEIGHBORS_MAX];
    ring_count(c, ring.sources, ring.rank, counts);
    ring_count(c, ring.targets, ring.rank, own_counts);
    return MPI_Neighbor_alltoallw(c->in, own_counts, ring.byte_displacements, ring.types, c->out, counts,
                                  ring.byte_displacements, ring.types, c->comm);
}

static int root_read(int64_t word)
{
    if (word == PEER_ROOT)
        return MPI_ROOT;
    return word == PEER_NULL ? MPI_PROC_NULL : (int)word;
}

static struct collective collective_read(const int64_t *a)
{
    const MPI_Op operations[] = {MPI_SUM, MPI_MAX, MPI_BXOR};
    return (struct collective){
        .comm = comms_table[a[2]],
        .root = root_read(a[3]),
        .operation = operations[a[4]],
        .in = memory_at(a[5], a[6]),
        .count = (int)a[7],
        .type = types_table[a[8]],
        .out = memory_at(a[9], a[10]),
        .request = a[1] < 0 ? NULL : requests_take(a[1], -1),
    };
}

/* collective what request comm root operation buffer offset count type buffer offset; request -1: blocking. what: one
 * of the functions below; from LISTED on they are blocking. */
static void run_collective(const int64_t *a)
{
    static collective_fn *const blocking[] = {barrier,
                                              bcast,
                                              reduce,
                                              allreduce,
                                              gather,
                                              scatter,
                                              allgather,
                                              alltoall,
                                              scan,
                                              reduce_scatter,
                                              NULL,
                                              NULL,
                                              NULL,
                                              NULL,
                                              gatherv,
                                              scatterv,
                                              allgatherv,
                                              alltoallv,
                                              alltoallw,
                                              reduce_scatter_lists,
                                              neighbor_allgather,
                                              neighbor_alltoall,
                                              neighbor_allgatherv,
                                              neighbor_alltoallv,
                                              neighbor_alltoallw};
    static collective_fn *const started[] = {ibarrier, ibcast,     ireduce,   iallreduce, igather,
                                             iscatter, iallgather, ialltoall, iscan,      ireduce_scatter};
    struct collective collective = collective_read(a);
    machine_observe_result(collective.request ? started[a[0]](&collective) : blocking[a[0]](&collective));
}

const struct instruction collective_instructions[] = {{"collective", run_collective}, {NULL, NULL}};
