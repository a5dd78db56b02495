/* SPDX-License-Identifier: MIT */
/* Blocking collectives, asked by their entries before anything else: shall the call be begun as a nonblocking one? A
 * blocking collective and a nonblocking one do not match (MPI 4.1, 6.12), so all ranks must answer alike. The answer
 * therefore rests on nothing but what the standard makes the same on all ranks: the function, the communicator, how
 * much one rank has for another, the reduction; and on what the ranks have agreed upon (collective_choice.h). */
#ifndef MPI_COLLECTIVE_BEGIN_H
#define MPI_COLLECTIVE_BEGIN_H

#include <stdbool.h>

#include "abi.h"
#include "base/options.h"
#include "mpi/collective/collective_call.h"
#include "mpi/collective/collective_comm.h"
#include "mpi/datatypes.h"
#include "op/session.h"

/* The way of most collectives, kept short: false where they are known to be small. The block: collective_call.h. */
static inline bool collective_begin_is_possible(enum collective_work_function function, MPI_Count block_count,
                                                MPI_Datatype block_type, MPI_Comm comm)
{
    if (!collective_comm_common.are_on)
        return false;
    if (collective_work_differs(function))
        return !collective_comm_passes(function, comm);
    if (collective_work_is_listed(function))
        return true;
    const struct type_layout *layout = datatype_entry(block_type);
    uint64_t blocks = collective_work_has_blocks(function) ? (uint64_t)session.size : 1;
    bool is_measured = datatype_is_cached(layout, block_type) && layout->is_known;
    uint64_t bytes = (uint64_t)layout->size_bytes * (uint64_t)block_count * blocks;
    return !is_measured || bytes >= collective_comm_common.least_bytes;
}

/* In MPI_Init, once the ranks have agreed (mpi/agreement.h). They end in MPI_Finalize (collective_comm.c). */
void collective_begin_start(void);

/* True: the call is done, with *result. */
bool collective_begin_run(enum collective_work_function function, const struct collective_call_arguments *given,
                          int *result);

#endif
