/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_comm.h"

#include <stdlib.h>

#include "base/options.h"
#include "engine/gate.h"
#include "op/busy.h"
#include "mpi/collective/collective_alone.h"
#include "mpi/errors.h"
#include "mpi/progress.h"
#include "mpi/real.h"
#include "mpi/vendor.h"

struct collective_comm_common collective_comm_common;

/* MPI_Finalize deletes the attribute of MPI_COMM_SELF that was set first after those of the program, whose functions
 * may call collectives (MPI 4.1, 11.2.4). Elsewhere other ranks may have begun them. */
static void self_delete(void)
{
    collective_comm_common.are_on = false;
    collective_comm_common.is_finished = true;
    progress_finish(false); /* these collectives may have needed it again */
}

/* Inside the gate. After an op of another thread each rank does so at its own time: MPI_Comm_free, collective in the
 * standard, waits for no other rank in Open MPI, MPICH and Intel MPI. */
static void comm_end(struct collective_comm *known)
{
    if (known->has_beside)
        real.MPI_Comm_free(&known->beside);
    free(known);
}

/* MPI calls it where the program frees its communicator, on every rank. A call of MPI_Comm_free from here is what the
 * callback is for (MPI 4.1, 7.7.2). While another thread's collective goes on, the communicator beside stays: Open MPI
 * 4.1's nonblocking collectives use theirs without a reference to it. */
static int attribute_delete(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    struct collective_comm *known = value;
    (void)keyval, (void)extra_state;
    if (comm == abi_handles.comm_self)
        self_delete();
    if (collective_comm_common.is_finished || known == &collective_comm_common.passed)
        return MPI_SUCCESS;
    if (collective_comm_common.recent == known)
        collective_comm_common.recent = NULL;
    base_lock_take(&collective_comm_common.lock);
    bool is_idle = known->pending == 0;
    known->is_freed = true;
    base_lock_release(&collective_comm_common.lock);
    if (is_idle)
        comm_end(known);
    return MPI_SUCCESS;
}

/* A duplicate is another communicator. */
static int attribute_copy(MPI_Comm comm, int keyval, void *extra_state, void *value_in, void *value_out, int *flag)
{
    (void)comm, (void)keyval, (void)extra_state, (void)value_in, (void)value_out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int keyval_get(void)
{
    base_lock_take(&collective_comm_common.lock);
    if (!collective_comm_common.has_keyval)
        collective_comm_common.has_keyval =
            real.MPI_Comm_create_keyval(attribute_copy, attribute_delete, &collective_comm_common.keyval, NULL) ==
            MPI_SUCCESS;
    base_lock_release(&collective_comm_common.lock);
    if (!collective_comm_common.has_keyval)
        collective_alone_end("no attribute for communicators");
    return collective_comm_common.keyval;
}

static struct collective_comm *comm_recent(MPI_Comm comm)
{
    return collective_comm_common.recent_comm == comm ? collective_comm_common.recent : NULL;
}

static bool comm_has_two_groups(MPI_Comm comm)
{
    int is_between = 1;
    real.MPI_Comm_test_inter(comm, &is_between);
    return is_between != 0;
}

int collective_comm_size(MPI_Comm comm)
{
    int size = 0;
    const struct collective_comm *recent = comm_recent(comm);
    if (recent != NULL)
        return recent->is_between ? 0 : recent->size;
    if (!comm_has_two_groups(comm))
        real.MPI_Comm_size(comm, &size);
    return size;
}

void collective_comm_start(bool are_passed)
{
    collective_comm_common.least_bytes = collective_comm_common.has_groups ? 0 : options.threshold_bytes;
    collective_comm_common.are_on = true;
    collective_comm_common.are_passed = are_passed;
    if (are_passed)
        return;
    gate_enter();
    real.MPI_Comm_set_attr(abi_handles.comm_self, keyval_get(), &collective_comm_common.passed);
    gate_leave();
}

void collective_comm_expect_groups(void)
{
    collective_comm_common.has_groups = true;
    collective_comm_common.least_bytes = 0;
}

bool collective_comm_is_between(MPI_Comm comm)
{
    const struct collective_comm *recent = comm_recent(comm);
    if (!collective_comm_common.has_groups || recent != NULL)
        return recent != NULL && recent->is_between;
    gate_enter();
    bool is_between = comm_has_two_groups(comm);
    gate_leave();
    return is_between;
}

static void ranks_sum(MPI_Comm comm, const int64_t *own, int64_t *all, int count)
{
    if (real.MPI_Allreduce(own, all, count, abi_handles.int64, abi_handles.sum, comm) != MPI_SUCCESS)
        collective_alone_end("MPI failed where the ranks agree upon their collectives");
}

void collective_comm_sum(const struct collective_comm *known, MPI_Comm comm, const int64_t *own, int64_t *all,
                         int count)
{
    enum { COUNT_MOST = COLLECTIVE_CHOICE_SUMS };
    int64_t told[COUNT_MOST];
    int64_t back[COUNT_MOST];
    ranks_sum(comm, own, all, count);
    if (!known->is_between)
        return;
    /* Each group now has the other's sums. One rank of it tells them. */
    for (int i = 0; i < count; i++)
        told[i] = known->rank == 0 ? all[i] : 0;
    ranks_sum(comm, told, back, count);
    for (int i = 0; i < count; i++)
        all[i] += back[i];
}

/* Between two groups each names its own, whole (MPI 4.1, 7.4.2). MPI_Comm_create, since MPI_Comm_dup would run the
 * program's callbacks for its attributes. */
static bool beside_make(MPI_Comm comm, struct collective_comm *known)
{
    MPI_Group group;
    MPI_Errhandler handler;
    real.MPI_Comm_group(comm, &group);
    real.MPI_Comm_get_errhandler(comm, &handler);
    real.MPI_Comm_set_errhandler(comm, abi_handles.errors_return); /* MPI may have no more communicators to give */
    known->has_beside = real.MPI_Comm_create(comm, group, &known->beside) == MPI_SUCCESS;
    real.MPI_Comm_set_errhandler(comm, handler);
    if (known->has_beside && known->topology.is_known)
        known->has_beside = collective_topology_give(&known->topology, comm, &known->beside);
    errors_handler_give_back(handler);
    real.MPI_Group_free(&group);
    if (known->has_beside)
        real.MPI_Comm_set_errhandler(known->beside, abi_handles.errors_return);
    return known->has_beside;
}

/* What was known goes with attribute_delete(). */
static void comm_pass(MPI_Comm comm)
{
    real.MPI_Comm_set_attr(comm, keyval_get(), &collective_comm_common.passed);
}

struct collective_comm *collective_comm_make_beside(MPI_Comm comm, struct collective_comm *known)
{
    if (beside_make(comm, known))
        return known;
    comm_pass(comm);
    return NULL;
}

/* Open MPI 4.1 numbers the messages of both as each rank begins them, and a rank may have begun a later step of the
 * duplicate than another when the communicator beside is made: then neither is ever over. */
void collective_comm_duplicate(MPI_Comm comm)
{
    struct collective_comm *known;
    if (collective_comm_common.are_on && (!collective_comm_find(comm, &known) || (known != NULL && !known->has_beside)))
        comm_pass(comm);
}

/* Are all of its processes in MPI_COMM_WORLD, whose ranks have been asked? */
static bool group_is_in_world(MPI_Group group, int size)
{
    MPI_Group world;
    int *ranks = collective_alone_memory(2 * (uint64_t)size * sizeof *ranks, "the ranks of a communicator");
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    real.MPI_Comm_group(abi_handles.comm_world, &world);
    bool is_inside = real.MPI_Group_translate_ranks(group, size, ranks, world, ranks + size) == MPI_SUCCESS;
    for (int i = 0; is_inside && i < size; i++)
        is_inside = ranks[size + i] != MPI_UNDEFINED;
    real.MPI_Group_free(&world);
    free(ranks);
    return is_inside;
}

static bool comm_is_in_world(MPI_Comm comm, const struct collective_comm *found)
{
    MPI_Group own;
    MPI_Group remote;
    real.MPI_Comm_group(comm, &own);
    bool is_inside = group_is_in_world(own, found->size);
    real.MPI_Group_free(&own);
    if (!found->is_between)
        return is_inside;
    real.MPI_Comm_remote_group(comm, &remote);
    is_inside = is_inside && group_is_in_world(remote, found->remote_size);
    real.MPI_Group_free(&remote);
    return is_inside;
}

/* Intel MPI 2021's algorithms 1, 3 and 5 of I_MPI_ADJUST_IALLGATHERV do, and it takes them from some 40 KB on. The
 * steps have an element at least: 1.6 MB of doubles beside a block of nothing took 0.6 s, and 9 ms by MPI_Allgatherv
 * (three ranks on two cores). Another algorithm cannot be asked for call by call. */
static bool library_steps_by_shortest(void)
{
    return vendor_is_intel();
}

static struct collective_comm comm_ask(MPI_Comm comm)
{
    struct collective_comm found = {.is_between = comm_has_two_groups(comm),
                                    .steps_by_shortest = library_steps_by_shortest()};
    real.MPI_Comm_size(comm, &found.size);
    real.MPI_Comm_rank(comm, &found.rank);
    if (found.is_between)
        real.MPI_Comm_remote_size(comm, &found.remote_size);
    return found;
}

/* Of processes that have not been asked none may be expected to agree upon anything. Two groups that were not expected
 * come from a call that Lapwing has not seen. */
static struct collective_comm *comm_make(MPI_Comm comm)
{
    struct collective_comm found = comm_ask(comm);
    bool is_unexpected = found.is_between && !collective_comm_common.has_groups;
    if (is_unexpected || found.size + found.remote_size < 2 || !comm_is_in_world(comm, &found))
        return &collective_comm_common.passed;
    struct collective_comm *known = collective_alone_memory(sizeof *known, "what is known of a communicator");
    *known = found;
    if (!known->is_between)
        collective_topology_find(&known->topology, comm, known->size);
    return known;
}

static struct collective_comm *comm_remember(MPI_Comm comm, struct collective_comm *known)
{
    if (known == &collective_comm_common.passed)
        return NULL;
    if (busy_is_shared())
        return known;
    collective_comm_common.recent_comm = comm;
    collective_comm_common.recent = known;
    return known;
}

bool collective_comm_find(MPI_Comm comm, struct collective_comm **found)
{
    struct collective_comm *known = NULL;
    int is_known = 0;
    *found = comm_recent(comm);
    if (*found != NULL)
        return true;
    real.MPI_Comm_get_attr(comm, keyval_get(), &known, &is_known);
    *found = is_known ? comm_remember(comm, known) : NULL;
    return is_known != 0;
}

struct collective_comm *collective_comm_meet(MPI_Comm comm)
{
    struct collective_comm *known = comm_make(comm);
    real.MPI_Comm_set_attr(comm, keyval_get(), known);
    return comm_remember(comm, known);
}

struct collective_choice *collective_comm_choice(struct collective_comm *comm, uint32_t key)
{
    for (int i = 0; i < COLLECTIVE_COMM_CHOICES; i++) {
        struct collective_choice *choice = &comm->choices[i];
        if (choice->key == 0)
            choice->key = key;
        if (choice->key == key)
            return choice;
    }
    return NULL;
}

void collective_comm_use(struct collective_comm *comm)
{
    base_lock_take(&collective_comm_common.lock);
    comm->pending++;
    base_lock_release(&collective_comm_common.lock);
}

void collective_comm_leave(struct collective_comm *comm)
{
    base_lock_take(&collective_comm_common.lock);
    bool is_last = --comm->pending == 0 && comm->is_freed;
    base_lock_release(&collective_comm_common.lock);
    if (is_last)
        comm_end(comm);
}
