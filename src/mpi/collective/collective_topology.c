/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_topology.h"

#include <stdlib.h>

#include "mpi/argument_buffers.h"
#include "mpi/collective/collective_alone.h"
#include "mpi/real.h"

enum { DIMENSIONS_MOST = 32 }; /* two neighbors in each, with a bit in `absent` */

static int *numbers_new(int count)
{
    return collective_alone_memory(((uint64_t)count + 1) * sizeof(int), "the neighbors of a rank");
}

static int kind_of(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    real.MPI_Topo_test(comm, &kind);
    return kind;
}

/* Who sends to this rank, and to whom it sends. */
struct neighbors {
    int *sources;
    int *targets;
};

static void neighbors_free(struct neighbors *neighbors)
{
    free(neighbors->sources);
    free(neighbors->targets);
}

static void list_cart(MPI_Comm comm, int *neighbors, int count)
{
    for (int i = 0; i < count; i += 2)
        real.MPI_Cart_shift(comm, i / 2, 1, &neighbors[i], &neighbors[i + 1]);
}

static struct neighbors list_neighbors(const struct collective_topology *topology, MPI_Comm comm, int kind, int rank)
{
    struct neighbors all = {numbers_new(topology->sources), numbers_new(topology->targets)};
    int *weights = numbers_new(topology->sources + topology->targets);
    if (kind == MPI_DIST_GRAPH)
        real.MPI_Dist_graph_neighbors(comm, topology->sources, all.sources, weights, topology->targets, all.targets,
                                      weights + topology->sources);
    else if (kind == MPI_CART)
        list_cart(comm, all.sources, topology->sources);
    else
        real.MPI_Graph_neighbors(comm, rank, topology->sources, all.sources);
    for (int i = 0; kind != MPI_DIST_GRAPH && i < topology->targets; i++)
        all.targets[i] = all.sources[i];
    free(weights);
    return all;
}

/* size: of the communicator. */
static bool list_has_doubles(const int *neighbors, int count, int size)
{
    bool has_doubles = false;
    int *seen = numbers_new(size);
    for (int i = 0; i < count; i++)
        has_doubles = has_doubles || (neighbors[i] >= 0 && seen[neighbors[i]]++ != 0);
    free(seen);
    return has_doubles;
}

static uint64_t list_absent(const int *neighbors, int count)
{
    uint64_t absent = 0;
    for (int i = 0; i < count; i++)
        absent |= (uint64_t)(neighbors[i] == MPI_PROC_NULL) << i;
    return absent;
}

void collective_topology_find(struct collective_topology *topology, MPI_Comm comm, int size)
{
    int kind = kind_of(comm);
    int rank = 0;
    if (kind != MPI_CART && kind != MPI_GRAPH && kind != MPI_DIST_GRAPH)
        return;
    real.MPI_Comm_rank(comm, &rank);
    topology->sources = argument_buffers_sources(comm);
    topology->targets = argument_buffers_targets(comm);
    topology->is_known = kind != MPI_CART || topology->sources <= 2 * DIMENSIONS_MOST;
    struct neighbors all = list_neighbors(topology, comm, kind, rank);
    topology->has_double_edges = list_has_doubles(all.sources, topology->sources, size) ||
                                 list_has_doubles(all.targets, topology->targets, size);
    if (kind == MPI_CART && topology->is_known)
        topology->absent = list_absent(all.sources, topology->sources);
    neighbors_free(&all);
}

static int cart_make(MPI_Comm comm, MPI_Comm plain, MPI_Comm *made)
{
    int dimensions = 0;
    real.MPI_Cartdim_get(comm, &dimensions);
    int *numbers = numbers_new(3 * dimensions);
    int *periods = numbers + dimensions;
    real.MPI_Cart_get(comm, dimensions, numbers, periods, periods + dimensions);
    int result = real.MPI_Cart_create(plain, dimensions, numbers, periods, 0, made);
    free(numbers);
    return result;
}

/* A graph is a distributed one, too. With weights, for what says that there are none differs by library. */
static int graph_make(const struct collective_topology *topology, MPI_Comm comm, int kind, MPI_Comm plain,
                      MPI_Comm *made)
{
    int rank = 0;
    MPI_Info info;
    real.MPI_Comm_rank(comm, &rank);
    struct neighbors all = list_neighbors(topology, comm, kind, rank);
    int most = topology->sources > topology->targets ? topology->sources : topology->targets;
    int *weights = numbers_new(most);
    for (int i = 0; i < most; i++)
        weights[i] = 1;
    real.MPI_Info_create(&info);
    int result = real.MPI_Dist_graph_create_adjacent(plain, topology->sources, all.sources, weights, topology->targets,
                                                     all.targets, weights, info, 0, made);
    real.MPI_Info_free(&info);
    free(weights);
    neighbors_free(&all);
    return result;
}

bool collective_topology_give(const struct collective_topology *topology, MPI_Comm comm, MPI_Comm *beside)
{
    int kind = kind_of(comm);
    MPI_Comm plain = *beside;
    real.MPI_Comm_set_errhandler(plain, abi_handles.errors_return);
    int result = kind == MPI_CART ? cart_make(comm, plain, beside) : graph_make(topology, comm, kind, plain, beside);
    real.MPI_Comm_free(&plain);
    return result == MPI_SUCCESS;
}
