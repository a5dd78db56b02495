/* SPDX-License-Identifier: MIT */
/* Collectives, blocking and nonblocking. */
#include "collectives.h"

#include <string.h>

static int barrier(const struct collective *c)
{
    return c->request ? MPI_Ibarrier(c->comm, c->request) : MPI_Barrier(c->comm);
}

static int bcast(const struct collective *c)
{
    return COLLECTIVE(Bcast, Ibcast, c->out, c->count, c->type, c->root, c->comm);
}

static int reduce(const struct collective *c)
{
    return COLLECTIVE(Reduce, Ireduce, c->in, c->out, c->count, c->type, c->operation, c->root, c->comm);
}

static int allreduce(const struct collective *c)
{
    return COLLECTIVE(Allreduce, Iallreduce, c->in, c->out, c->count, c->type, c->operation, c->comm);
}

static int gather(const struct collective *c)
{
    return COLLECTIVE(Gather, Igather, c->in, c->count, c->type, c->out, c->count, c->type, c->root, c->comm);
}

static int scatter(const struct collective *c)
{
    return COLLECTIVE(Scatter, Iscatter, c->in, c->count, c->type, c->out, c->count, c->type, c->root, c->comm);
}

static int allgather(const struct collective *c)
{
    return COLLECTIVE(Allgather, Iallgather, c->in, c->count, c->type, c->out, c->count, c->type, c->comm);
}

static int alltoall(const struct collective *c)
{
    return COLLECTIVE(Alltoall, Ialltoall, c->in, c->count, c->type, c->out, c->count, c->type, c->comm);
}

static int scan(const struct collective *c)
{
    return COLLECTIVE(Scan, Iscan, c->in, c->out, c->count, c->type, c->operation, c->comm);
}

static int exscan(const struct collective *c)
{
    return COLLECTIVE(Exscan, Iexscan, c->in, c->out, c->count, c->type, c->operation, c->comm);
}

static int reduce_scatter(const struct collective *c)
{
    return COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, c->in, c->out, c->count, c->type, c->operation,
                      c->comm);
}

static int neighbor_allgather(const struct collective *c)
{
    return COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, c->in, c->count, c->type, c->out, c->count, c->type,
                      c->comm);
}

static int neighbor_alltoall(const struct collective *c)
{
    return COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, c->in, c->count, c->type, c->out, c->count, c->type,
                      c->comm);
}

static int root_read(int64_t word)
{
    if (word == PEER_ROOT)
        return MPI_ROOT;
    return word == PEER_NULL ? MPI_PROC_NULL : (int)word;
}

static struct collective collective_read(const int64_t *a)
{
    const MPI_Op operations[] = {MPI_SUM, MPI_MAX,  MPI_BXOR, MPI_MIN,  MPI_PROD,   MPI_BAND,
                                 MPI_BOR, MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC};
    return (struct collective){
        .comm = comms_table[a[2]],
        .root = root_read(a[3]),
        .operation = operations[a[4]],
        .is_large = a[5] != 0,
        .in = memory_at(a[6], a[7]),
        .count = (int)a[8],
        .type = types_table[a[9]],
        .out = memory_at(a[10], a[11]),
        .request = a[1] < 0 ? NULL : requests_take(a[1], -1),
        .lists = lists_of_request(a[1]),
    };
}

/* collective what request comm root operation large buffer offset count type buffer offset; request -1: blocking; large
 * 1: its twin. what: one of the functions below, numbered as in tests/fuzz/generate.py. */
static void run_collective(const int64_t *a)
{
    static collective_fn *const functions[] = {barrier,
                                               bcast,
                                               reduce,
                                               allreduce,
                                               gather,
                                               scatter,
                                               allgather,
                                               alltoall,
                                               scan,
                                               reduce_scatter,
                                               exscan,
                                               NULL,
                                               NULL,
                                               NULL,
                                               lists_gatherv,
                                               lists_scatterv,
                                               lists_allgatherv,
                                               lists_alltoallv,
                                               lists_alltoallw,
                                               lists_reduce_scatter,
                                               neighbor_allgather,
                                               neighbor_alltoall,
                                               lists_neighbor_allgatherv,
                                               lists_neighbor_alltoallv,
                                               lists_neighbor_alltoallw};
    struct collective collective = collective_read(a);
    machine_observe_result(functions[a[0]](&collective));
    if (!collective.request)
        lists_spoil(collective.lists);
}

/* tame buffer offset count type: floating-point numbers that have one order: neither NaN, nor a zero with a sign */
static void run_tame(const int64_t *a)
{
    unsigned char *bytes = memory_at(a[0], a[1]);
    int size;
    MPI_Type_size(types_table[a[3]], &size);
    for (int64_t i = 0; i < a[2]; i++) {
        unsigned char *highest = bytes + (i + 1) * size - 1; /* sign, and an exponent that never is the largest */
        *highest = (unsigned char)((*highest & 0xBF) | 1);
    }
}

const struct instruction collective_instructions[] = {{"collective", run_collective}, {"tame", run_tame}, {NULL, NULL}};
