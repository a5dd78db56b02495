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

/* Has any rank a type with gaps in its large calls of a function? It would need as much memory again. */
enum collective_comm_gaps { COLLECTIVE_COMM_GAPS_UNKNOWN, COLLECTIVE_COMM_GAPS_NONE, COLLECTIVE_COMM_GAPS_SOME };

/* size: of the own group; remote_size: of the other one, 0 where there is none. steps_by_shortest: MPI_Iallgatherv
 * moves all blocks in steps as long as the shortest of them. pending: ops under way; under the lock of
 * collective_comm.c. The rest: collective_choice.h. */
struct collective_comm {
    MPI_Comm beside;
    bool has_beside;
    int rank;
    int size;
    bool is_between; /* two groups */
    int remote_size;
    bool steps_by_shortest;
    uint32_t pending;
    bool is_freed;
    struct collective_topology topology;
    struct collective_sizes sizes[COLLECTIVE_WORK_COUNTED];
    enum collective_comm_gaps gaps[COLLECTIVE_WORK_STAGED]; /* alike on all ranks */
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

/* A duplicate of it has been begun (MPI_Comm_idup). If it has none beside it by then its collectives are passed, on all
 * ranks, since the call is a collective one. */
void collective_comm_duplicate(MPI_Comm comm);

/* are_on, are_passed: written in MPI_Init, are_on in MPI_Finalize, too.
 *
 * least_bytes: a call that moves less is small. Between two groups a rank may not know how much is moved: from the
 * first such communicator on (has_groups) no call counts as small. Written before it is made. No atomic, which would
 * cost each call an instruction: a thread that calls a collective there knows of it from the one that made it, and for
 * all other communicators either value is right.
 *
 * recent: found last, for calls that must cost next to nothing; NULL where none was, where it has been freed, and where
 * several threads may call MPI at once, since one of them may free it. Written inside the gate.
 *
 * The rest is for collective_comm.c. keyval: made at the first use, inside the gate; by the lock where several threads
 * may be there. passed: the attribute of communicators whose collectives are passed. */
extern __attribute__((visibility("hidden"))) struct collective_comm_common {
    bool are_on;
    bool are_passed; /* they are counted, and no more: ranks are not known to be alike */
    bool has_groups;
    uint64_t least_bytes;
    MPI_Comm recent_comm;
    struct collective_comm *recent;
    struct base_lock lock;
    bool has_keyval;
    bool is_finished;
    int keyval;
    struct collective_comm passed;
    char nothing; /* what goes where nothing is to be moved: collective_groups.h */
} collective_comm_common;

/* Counts a call of a function whose calls are counted: true when it is passed at once. */
static inline bool collective_comm_passes(enum collective_work_function function, MPI_Comm comm)
{
    struct collective_comm *known = collective_comm_common.recent;
    return known != NULL && collective_comm_common.recent_comm == comm &&
           collective_sizes_pass(&known->sizes[function]);
}

/* Inside the gate. 0 between two groups. */
int collective_comm_size(MPI_Comm comm);

/* Communicators of two groups may come. Before the first one is made; at any time, MPI_Init or not. */
void collective_comm_expect_groups(void);

/* Is it one of those that were expected? Not inside the gate. */
bool collective_comm_is_between(MPI_Comm comm);

/* In MPI_Init. are_passed: calls are only counted. */
void collective_comm_start(bool are_passed);

/* Adds numbers of all ranks up, of both groups. Ends the process where MPI fails: ranks would differ from then on.
 * comm: the program's, or the one beside. Inside the gate. */
void collective_comm_sum(const struct collective_comm *known, MPI_Comm comm, const int64_t *own, int64_t *all,
                         int count);

/* The choice of that key, which is not 0; NULL when there are too many, then on all ranks. */
struct collective_choice *collective_comm_choice(struct collective_comm *comm, uint32_t key);

/* An op begins, or has ended: until then the communicator's choices stay. */
void collective_comm_use(struct collective_comm *comm);
void collective_comm_leave(struct collective_comm *comm);

#endif
