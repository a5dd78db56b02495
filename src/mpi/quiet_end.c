/* SPDX-License-Identifier: MIT */
/* MPICH 4.0 on UCX over TCP: MPI_Finalize asks each peer to confirm what was sent, then waits for all ranks without
 * looking into MPI (MPIDI_UCX_mpi_finalize_hook()). A rank whose peers have all confirmed is deaf from then on. A peer
 * that confirms before it asks itself does so in vain, and waits for ever. It confirms wherever it looks into MPI, and
 * under Lapwing it looks while it computes.
 *
 * So all ranks meet here, and then none looks for as long as the last of them may take to leave the barrier. With four
 * ranks on two cores, 5 ms were too short in 3 of 30 runs, 20 ms in none of 60. */
#include "mpi/quiet_end.h"

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

/* PMPI_: no tool of the program's sees a call that the program did not make. Without sockets nothing goes by TCP. */
static void ranks_meet(void)
{
    enum { QUIET_NS = 20000000 };
    int (*barrier)(MPI_Comm) = (int (*)(MPI_Comm))bind_library_symbol("PMPI_Barrier");
    if (barrier == NULL)
        return;
    barrier(abi_handles.comm_world);
    if (engine_sockets_count() != 0)
        base_clock_pause(QUIET_NS);
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
