/* SPDX-License-Identifier: MIT */
#include "mpi/early/early_refuse.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "mpi/early/early_channels.h"
#include "mpi/dispatch.h"
#include "engine/gate.h"
#include "op/lifetime.h"
#include "mpi/early/early_messages.h"

/* Hydra drops what a rank writes just before MPI_Abort. */
static void let_launcher_read(void)
{
    enum { PAUSE_NS = 200 * 1000 * 1000 };
    base_clock_pause(PAUSE_NS);
}

static void refuse(const char *function, const char *why)
{
    dprintf(STDERR_FILENO, "lapwing: %s: %s. Run without --early-receive.\n", function, why);
    let_launcher_read();
    lifetime_abort();
    real.MPI_Abort(abi_handles.comm_world, 1);
}

void early_refuse_matching(int source, int tag, MPI_Comm comm, const char *function)
{
    gate_enter();
    early_channels_close(comm);
    bool is_here = early_message_find(source, tag, comm) != NULL;
    gate_leave();
    if (is_here)
        refuse(function, "a message that it could match has been received early");
}

static bool message_may_be_early(MPI_Count count, MPI_Datatype datatype)
{
    struct message message = message_of(NULL, count, datatype, 0, 0, abi_handles.comm_null);
    message_measure(&message);
    return !message.is_measured || message.bytes >= early_messages_least_bytes();
}

/* Nobody takes what it sends to itself. */
static bool peer_is_another(int peer, MPI_Comm comm)
{
    int own_rank = MPI_PROC_NULL;
    int is_between = 0;
    gate_enter();
    real.MPI_Comm_rank(comm, &own_rank);
    real.MPI_Comm_test_inter(comm, &is_between);
    gate_leave();
    return peer >= 0 && (is_between || peer != own_rank);
}

void early_refuse_synchronous_send(MPI_Count count, MPI_Datatype datatype, int peer, MPI_Comm comm,
                                   const char *function)
{
    bool is_comm = comm != abi_handles.comm_null;
    if (is_comm && message_may_be_early(count, datatype) && peer_is_another(peer, comm))
        refuse(function, "its message may be received before it is asked for, and the call would return too soon");
}
