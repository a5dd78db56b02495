/* SPDX-License-Identifier: MIT */
/* MPICH 4.0 on UCX over TCP: MPI_Finalize asks each peer to confirm what was sent, then waits for all ranks without
 * looking into MPI (MPIDI_UCX_mpi_finalize_hook()). A rank whose peers have all confirmed is deaf from then on. A peer
 * that confirms before it asks itself does so in vain, and waits for ever. It confirms wherever it looks into MPI, and
 * under Lapwing it looks while it computes.
 *
 * So all ranks meet here, and then none looks for as long as the last of them may take to leave this meeting. With four
 * ranks on two cores, 5 ms were too short in 3 of 30 runs, 20 ms in none of 60; where other programs use the cores,
 * too, one may wait several times as long to get one. */
#include "mpi/quiet_end.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/launch.h"
#include "bind/bind.h"
#include "engine/gate.h"
#include "engine/sockets.h"
#include "mpi/agreement.h"
#include "mpi/real.h"
#include "op/session.h"

/* The same on all ranks: those of one host do not use TCP. */
static bool quiet_end_is_needed(void)
{
    long local_ranks = base_launch_local_ranks();
    bool has_hosts = local_ranks > 0 && session.size > local_ranks;
    return has_hosts && agreement_is_whole() && abi_ends_deaf();
}

/* Threads of this host that want a core now (proc(5), /proc/loadavg). */
static long host_running(void)
{
    long running = 0;
    FILE *file = fopen("/proc/loadavg", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %*s %*s %ld", &running) != 1)
        running = 0;
    fclose(file);
    return running;
}

/* How many wait for each core, rounded; or ranks for each of those that they may have. */
static int64_t host_queue(void)
{
    cpu_set_t allowed;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool is_known = base_cores_allowed(&allowed);
    long of_host = cores > 0 ? (host_running() + cores / 2) / cores - 1 : 0;
    long of_ranks = is_known && CPU_COUNT(&allowed) < cores ? base_launch_local_ranks() / CPU_COUNT(&allowed) - 1 : 0;
    long most = of_host > of_ranks ? of_host : of_ranks;
    return most > 0 ? most : 0;
}

/* PMPI_, here and below: no tool of the program's sees a call that the program did not make. Without sockets nothing
 * goes by TCP. */
static void ranks_meet(void)
{
    enum { QUIET_NS = 20000000, PARTS_MOST = 25 };
    int64_t own = host_queue();
    int64_t all = 0;
    __typeof__(real.MPI_Allreduce) sum = bind_library_symbol("PMPI_Allreduce");
    if (sum == NULL)
        return;
    sum(&own, &all, 1, abi_handles.int64, abi_handles.sum, abi_handles.comm_world);
    int64_t parts = 1 + all / base_launch_local_ranks(); /* each host counts once */
    if (engine_sockets_count() != 0)
        base_clock_pause(QUIET_NS * (parts < PARTS_MOST ? parts : PARTS_MOST));
}

/* In the gate: the engine is still there where MPI_Finalize was not called by its name (op/lifetime.c). */
static int self_delete(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    bool is_inside = gate_is_inside();
    (void)comm, (void)keyval, (void)value, (void)extra_state;
    if (!is_inside)
        gate_enter();
    ranks_meet();
    if (!is_inside)
        gate_leave();
    return MPI_SUCCESS;
}

/* A duplicate of MPI_COMM_SELF ends whenever the program likes. */
static int self_copy(MPI_Comm comm, int keyval, void *extra_state, void *value_in, void *value_out, int *flag)
{
    (void)comm, (void)keyval, (void)extra_state, (void)value_in, (void)value_out;
    *flag = 0;
    return MPI_SUCCESS;
}

static void attribute_set(void)
{
    int keyval;
    __typeof__(real.MPI_Comm_create_keyval) create = bind_library_symbol("PMPI_Comm_create_keyval");
    __typeof__(real.MPI_Comm_set_attr) set = bind_library_symbol("PMPI_Comm_set_attr");
    if (create != NULL && set != NULL && create(self_copy, self_delete, &keyval, NULL) == MPI_SUCCESS)
        set(abi_handles.comm_self, keyval, NULL);
}

void quiet_end_start(void)
{
    if (!quiet_end_is_needed())
        return;
    gate_enter();
    attribute_set();
    gate_leave();
}
