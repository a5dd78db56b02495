/* SPDX-License-Identifier: MIT */
/* The neighbors of a rank, for neighborhood collectives. */
#ifndef MPI_COLLECTIVE_TOPOLOGY_H
#define MPI_COLLECTIVE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

/* is_known: there is one, on all ranks alike. absent: bit i tells that neighbor i of a Cartesian topology is
 * MPI_PROC_NULL. has_double_edges: some neighbor is named twice. Which of its blocks comes where is not the same in
 * MPI's blocking and nonblocking functions: Open MPI's MPI_Ineighbor_alltoall mixes them up (MPI 4.1, 8.6). */
struct collective_topology {
    bool is_known;
    bool has_double_edges;
    int sources;
    int targets;
    uint64_t absent;
};

/* Inside the gate, as the next. size: of the communicator. */
void collective_topology_find(struct collective_topology *topology, MPI_Comm comm, int size);

/* Gives *beside, of the same ranks, the topology of comm: another communicator takes its place. A collective call.
 * False where MPI has none to give; then *beside is gone. */
bool collective_topology_give(const struct collective_topology *topology, MPI_Comm comm, MPI_Comm *beside);

#endif
