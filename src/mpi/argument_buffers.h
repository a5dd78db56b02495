/* SPDX-License-Identifier: MIT */
/* Memory that one thread has received and another gives to a call, or that is held without an op: a send whose request
 * was freed. A call that waits for the ops of its own thread (transfer_wait_due) waits for these as well. For the
 * entries that mpi/uses.py describes. */
#ifndef MPI_ARGUMENT_BUFFERS_H
#define MPI_ARGUMENT_BUFFERS_H

#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "op/busy.h"
#include "protect/armed.h"

/* An array of counts or displacements: of int, or of 64 bits in the functions for large counts. */
struct argument_buffer_list {
    const void *first;
    size_t element_bytes;
};

#define ARGUMENT_BUFFER_LIST(array) ((struct argument_buffer_list){(array), sizeof((array)[0])})

static inline int64_t argument_buffers_at(struct argument_buffer_list list, int i)
{
    bool is_int = list.element_bytes == sizeof(int);
    return is_int ? ((const int *)list.first)[i] : ((const int64_t *)list.first)[i];
}

/* Otherwise the call has waited for all that holds memory, or is one of MPI's own. */
static inline bool argument_buffers_may_be_held(void)
{
    return (busy_is_shared() || protect_armed_is_any()) && !gate_is_inside();
}

/* With how many processes a collective call exchanges blocks: all, or those of the other group. */
int argument_buffers_peers(MPI_Comm comm);

/* The same for neighborhood collectives: who sends to this process, and to whom it sends. */
int argument_buffers_sources(MPI_Comm comm);
int argument_buffers_targets(MPI_Comm comm);

/* Does MPI look at what the root alone gives, and at what the others give? (A root of one group is both.) */
bool argument_buffers_is_root(int root, MPI_Comm comm);
bool argument_buffers_is_leaf(int root);

/* counts[i] elements each, displs[i] extents from the buffer on. */
void argument_buffers_wait_parts(const void *buffer, struct argument_buffer_list counts,
                                 struct argument_buffer_list displs, MPI_Datatype datatype, int parts,
                                 enum dispatch_access access);

/* The same with displs in bytes and a type for each. */
void argument_buffers_wait_typed(const void *buffer, struct argument_buffer_list counts,
                                 struct argument_buffer_list displs, const MPI_Datatype datatypes[], int parts,
                                 enum dispatch_access access);

/* MPI_Reduce_scatter: reads all shares, and writes this process's. */
void argument_buffers_wait_shares(const void *sendbuf, const void *recvbuf, struct argument_buffer_list counts,
                                  MPI_Datatype datatype, MPI_Comm comm);
void argument_buffers_wait_even_shares(const void *sendbuf, const void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                                       MPI_Comm comm);

#endif
