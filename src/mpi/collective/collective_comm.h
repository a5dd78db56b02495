/* SPDX-License-Identifier: MIT */
/* What is known of a communicator of the program's: a second one beside it, of the same ranks, on which nothing but
 * the pieces of its collectives travel, so that a piece may be started long after the call; and how its collectives
 * have fared. It is an attribute of the communicator, and ends with it. */
#ifndef MPI_COLLECTIVE_COMM_H
#define MPI_COLLECTIVE_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "base/lock.h"
#include "mpi/collective/collective_choice.h"
#include "mpi/collective/collective_sizes.h"
#include "mpi/collective/collective_topology.h"
#include "mpi/collective/collective_work.h"

enum { COLLECTIVE_COMM_CHOICES = 48 };

/* pending: ops under way; under the lock of collective_comm.c. The rest: collective_choice.h. */
struct collective_comm {
    MPI_Comm beside;
    bool has_beside;
    int rank;
    int size;
    uint32_t pending;
    bool is_freed;
    struct collective_topology topology;
    struct collective_sizes sizes[COLLECTIVE_WORK_DIFFERING];
    struct collective_choice choices[COLLECTIVE_COMM_CHOICES];
};

/* Has it been met? Then *found is what is known of it; NULL: its collectives are passed, on all of its ranks. Inside
 * the gate, as the next. */
bool collective_comm_find(MPI_Comm comm, struct collective_comm **found);

/* The first time. NULL as above. */
struct collective_comm *collective_comm_meet(MPI_Comm comm);

/* Makes the second communicator: a collective call. NULL, and the collectives are passed from now on, where MPI has
 * none to give. */
struct collective_comm *collective_comm_make_beside(MPI_Comm comm, struct collective_comm *known);

/* are_on: written in MPI_Init and MPI_Finalize. recent: found last, for calls that must cost next to nothing; NULL
 * where none was, where it has been freed, and where several threads may call MPI at once, since one of them may free
 * it. Written inside the gate.
 * The rest is for collective_comm.c. keyval: made at the first use, inside the gate; by the lock where several threads
 * may be there. passed: the attribute of communicators whose collectives are passed. */
extern __attribute__((visibility("hidden"))) struct collective_comm_common {
    bool are_on;
    MPI_Comm recent_comm;
    struct collective_comm *recent;
    struct base_lock lock;
    bool has_keyval;
    bool is_finished;
    int keyval;
    struct collective_comm passed;
} collective_comm_common;

/* Counts a call of a function for which collective_work_differs(): true when it is passed at once. */
static inline bool collective_comm_passes(enum collective_work_function function, MPI_Comm comm)
{
    struct collective_comm *known = collective_comm_common.recent;
    return known != NULL && collective_comm_common.recent_comm == comm &&
           collective_sizes_pass(&known->sizes[function]);
}

/* Inside the gate. 0 between two groups. */
int collective_comm_size(MPI_Comm comm);

/* The choice of that key, which is not 0; NULL when there are too many, then on all ranks. */
struct collective_choice *collective_comm_choice(struct collective_comm *comm, uint32_t key);

/* An op begins, or has ended: until then the communicator's choices stay. */
void collective_comm_use(struct collective_comm *comm);
void collective_comm_leave(struct collective_comm *comm);

/* MPI ends: what is left goes with it. */
void collective_comm_finish(void);

#endif
