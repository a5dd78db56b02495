/* SPDX-License-Identifier: MIT */
/* Collectives, blocking and nonblocking. */
#include "machine.h"

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

/* The blocks of the lists: from the last rank's to the first's, each of another length. They end with the call, whose
 * nonblocking twin must not need them any longer. */
struct lists {
    int rank;
    int size;
    int counts[MEMBERS_MAX];
    int displacements[MEMBERS_MAX];
    int byte_displacements[MEMBERS_MAX];
    MPI_Datatype types[MEMBERS_MAX];
};

static int block_count(const struct collective *c, int step)
{
    return c->count - c->count / LISTED * (step % LISTED);
}

static struct lists lists_of(const struct collective *c, bool is_by_pair)
{
    struct lists lists;
    MPI_Aint lower;
    MPI_Aint extent;
    MPI_Comm_rank(c->comm, &lists.rank);
    MPI_Comm_size(c->comm, &lists.size);
    MPI_Type_get_extent(c->type, &lower, &extent);
    for (int i = 0; i < lists.size; i++) {
        lists.counts[i] = block_count(c, is_by_pair ? lists.rank + i : i);
        lists.displacements[i] = (lists.size - 1 - i) * c->count;
        lists.byte_displacements[i] = (int)(lists.displacements[i] * extent);
        lists.types[i] = c->type;
    }
    return lists;
}

static int gatherv(const struct collective *c)
{
    struct lists l = lists_of(c, false);
    return MPI_Gatherv(c->in, l.counts[l.rank], c->type, c->out, l.counts, l.displacements, c->type, c->root, c->comm);
}

static int scatterv(const struct collective *c)
{
    struct lists l = lists_of(c, false);
    return MPI_Scatterv(c->in, l.counts, l.displacements, c->type, c->out, l.counts[l.rank], c->type, c->root, c->comm);
}

static int allgatherv(const struct collective *c)
{
    struct lists l = lists_of(c, false);
    return MPI_Allgatherv(c->in, l.counts[l.rank], c->type, c->out, l.counts, l.displacements, c->type, c->comm);
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

static struct collective collective_read(const int64_t *a)
{
    const MPI_Op operations[] = {MPI_SUM, MPI_MAX, MPI_BXOR};
    return (struct collective){
        .comm = comms_table[a[2]],
        .root = (int)a[3],
        .operation = operations[a[4]],
        .in = memory_at(a[5], a[6]),
        .count = (int)a[7],
        .type = types_table[a[8]],
        .out = memory_at(a[9], a[10]),
        .request = a[1] < 0 ? NULL : requests_take(a[1], -1),
    };
}

/* collective what request comm root operation buffer offset count type buffer offset; request -1: blocking. what: one
 * of the functions below, or LISTED and more, which are blocking. */
static void run_collective(const int64_t *a)
{
    static collective_fn *const blocking[] = {
        barrier, bcast, reduce, allreduce, gather,  scatter,  allgather,  alltoall,  scan,      reduce_scatter,
        NULL,    NULL,  NULL,   NULL,      gatherv, scatterv, allgatherv, alltoallv, alltoallw, reduce_scatter_lists};
    static collective_fn *const started[] = {ibarrier, ibcast,     ireduce,   iallreduce, igather,
                                             iscatter, iallgather, ialltoall, iscan,      ireduce_scatter};
    struct collective collective = collective_read(a);
    machine_observe_result(collective.request ? started[a[0]](&collective) : blocking[a[0]](&collective));
}

const struct instruction collective_instructions[] = {{"collective", run_collective}, {NULL, NULL}};
