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

/* How many threads want each of this host's cores now, beyond one (proc(5), /proc/loadavg). */
static int64_t host_crowd(void)
{
    long running = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    FILE *file = fopen("/proc/loadavg", "re");
    if (file == NULL)
        return 0;
    bool is_read = fscanf(file, "%*f %*f %*f %ld", &running) == 1;
    fclose(file);
    return is_read && cores > 0 && running > cores ? running / cores - 1 : 0;
}

/* PMPI_: no tool of the program's sees a call that the program did not make. Without sockets nothing goes by TCP. */
static void ranks_meet(void)
{
    enum { QUIET_NS = 20000000, PARTS_MOST = 25 };
    int64_t own = host_crowd();
    int64_t all = 0;
    __typeof__(real.MPI_Allreduce) sum = bind_library_symbol("PMPI_Allreduce");
    if (sum == NULL)
        return;
    sum(&own, &all, 1, abi_handles.int64, abi_handles.sum, abi_handles.comm_world);
    if (engine_sockets_count() != 0)
        base_clock_pause(QUIET_NS * (1 + (all < PARTS_MOST ? all : PARTS_MOST - 1)));
}

/* In the gate: the engine is still there where MPI_Finalize was not called by its name (op/lifetime.c). */
void quiet_end_wait(void)
{
    bool is_inside = gate_is_inside();
    if (!quiet_end_is_needed())
        return;
    if (!is_inside)
        gate_enter();
    ranks_meet();
    if (!is_inside)
        gate_leave();
}
