/* SPDX-License-Identifier: MIT */
#include "mpi/argument_buffers.h"

#include "base/pages.h"
#include "mpi/datatypes.h"

/* --- who takes part --- */

struct group {
    bool is_between; /* the communicator of two groups */
    int rank;
    int size; /* of the own group */
    int remote_size;
};

/* Errors are left to the call itself, which gets the same communicator. */
static struct group group_ask(MPI_Comm comm)
{
    struct group group = {0};
    int is_between = 0;
    gate_enter();
    if (comm != abi_handles.comm_null && real.MPI_Comm_test_inter(comm, &is_between) == MPI_SUCCESS) {
        real.MPI_Comm_rank(comm, &group.rank);
        real.MPI_Comm_size(comm, &group.size);
    }
    if (is_between)
        real.MPI_Comm_remote_size(comm, &group.remote_size);
    gate_leave();
    group.is_between = is_between != 0;
    return group;
}

int argument_buffers_peers(MPI_Comm comm)
{
    struct group group = group_ask(comm);
    return group.is_between ? group.remote_size : group.size;
}

bool argument_buffers_is_root(int root, MPI_Comm comm)
{
    if (root < 0)
        return root == MPI_ROOT;
    struct group group = group_ask(comm);
    return !group.is_between && group.rank == root;
}

bool argument_buffers_is_leaf(int root)
{
    return root >= 0; /* MPI_ROOT and MPI_PROC_NULL are negative */
}

struct neighbors {
    int sources;
    int targets;
};

static void neighbors_ask_cart(MPI_Comm comm, struct neighbors *neighbors)
{
    int dimensions = 0;
    real.MPI_Cartdim_get(comm, &dimensions);
    *neighbors = (struct neighbors){2 * dimensions, 2 * dimensions};
}

static void neighbors_ask_graph(MPI_Comm comm, struct neighbors *neighbors)
{
    int rank = 0;
    int count = 0;
    real.MPI_Comm_rank(comm, &rank);
    real.MPI_Graph_neighbors_count(comm, rank, &count);
    *neighbors = (struct neighbors){count, count};
}

static struct neighbors neighbors_ask(MPI_Comm comm)
{
    struct neighbors neighbors = {0};
    int kind = MPI_UNDEFINED;
    int is_weighted;
    gate_enter();
    if (comm != abi_handles.comm_null)
        real.MPI_Topo_test(comm, &kind);
    if (kind == MPI_CART)
        neighbors_ask_cart(comm, &neighbors);
    else if (kind == MPI_GRAPH)
        neighbors_ask_graph(comm, &neighbors);
    else if (kind == MPI_DIST_GRAPH)
        real.MPI_Dist_graph_neighbors_count(comm, &neighbors.sources, &neighbors.targets, &is_weighted);
    gate_leave();
    return neighbors;
}

int argument_buffers_sources(MPI_Comm comm)
{
    return neighbors_ask(comm).sources;
}

int argument_buffers_targets(MPI_Comm comm)
{
    return neighbors_ask(comm).targets;
}

/* --- buffers --- */

static void list_wait(struct argument_buffer_list list, int elements)
{
    if (elements > 0 && (uintptr_t)list.first > base_page_bytes()) /* else one of MPI's constants */
        dispatch_wait_range(base_range_of(list.first, list.element_bytes * (size_t)elements), true);
}

/* Parts that adjoin are waited for as one: mostly all do. */
struct run {
    struct range bytes;
    bool is_read;
};

static void run_end(struct run *run)
{
    if (!base_range_is_empty(run->bytes))
        dispatch_wait_range(run->bytes, run->is_read);
}

static void run_add(struct run *run, struct range part)
{
    if (base_range_is_empty(part))
        return;
    if (part.low > run->bytes.high || part.high < run->bytes.low) {
        run_end(run);
        run->bytes = part;
        return;
    }
    run->bytes = base_range_around(run->bytes, part);
}

static const void *buffer_at(const void *buffer, int64_t offset_bytes)
{
    return (const void *)((uintptr_t)buffer + (uintptr_t)offset_bytes);
}

void argument_buffers_wait_parts(const void *buffer, struct argument_buffer_list counts,
                                 struct argument_buffer_list displs, MPI_Datatype datatype, int parts,
                                 enum dispatch_access access)
{
    struct run run = {.is_read = access == DISPATCH_READS};
    if (buffer == MPI_IN_PLACE) /* MPI does not look at the lists either */
        return;
    list_wait(counts, parts);
    list_wait(displs, parts);
    struct type_layout layout = *datatype_layout(datatype);
    if (!layout.is_known)
        dispatch_wait_unknown();
    for (int i = 0; layout.is_known && i < parts; i++)
        run_add(&run, datatype_span(&layout, buffer_at(buffer, argument_buffers_at(displs, i) * layout.extent_bytes),
                                    argument_buffers_at(counts, i)));
    run_end(&run);
}

void argument_buffers_wait_typed(const void *buffer, struct argument_buffer_list counts,
                                 struct argument_buffer_list displs, const MPI_Datatype datatypes[], int parts,
                                 enum dispatch_access access)
{
    struct run run = {.is_read = access == DISPATCH_READS};
    if (buffer == MPI_IN_PLACE)
        return;
    list_wait(counts, parts);
    list_wait(displs, parts);
    list_wait(ARGUMENT_BUFFER_LIST(datatypes), parts);
    for (int i = 0; i < parts; i++) {
        if (argument_buffers_at(counts, i) <= 0)
            continue;
        const struct type_layout *layout = datatype_layout(datatypes[i]);
        if (layout->is_known)
            run_add(&run, datatype_span(layout, buffer_at(buffer, argument_buffers_at(displs, i)),
                                        argument_buffers_at(counts, i)));
        else
            dispatch_wait_unknown();
    }
    run_end(&run);
}

/* In place, the receive buffer gives all shares. */
static void wait_shares(const void *sendbuf, const void *recvbuf, MPI_Count sum, MPI_Count own, MPI_Datatype datatype)
{
    bool is_in_place = sendbuf == MPI_IN_PLACE;
    dispatch_wait_buffer(sendbuf, sum, datatype, DISPATCH_READS);
    dispatch_wait_buffer(recvbuf, is_in_place ? sum : own, datatype, DISPATCH_WRITES);
}

void argument_buffers_wait_shares(const void *sendbuf, const void *recvbuf, struct argument_buffer_list counts,
                                  MPI_Datatype datatype, MPI_Comm comm)
{
    struct group group = group_ask(comm);
    MPI_Count sum = 0;
    list_wait(counts, group.size);
    for (int i = 0; i < group.size; i++)
        sum += argument_buffers_at(counts, i);
    wait_shares(sendbuf, recvbuf, sum, sum > 0 ? argument_buffers_at(counts, group.rank) : 0, datatype);
}

void argument_buffers_wait_even_shares(const void *sendbuf, const void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                                       MPI_Comm comm)
{
    wait_shares(sendbuf, recvbuf, count * group_ask(comm).size, count, datatype);
}
