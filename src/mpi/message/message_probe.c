/* SPDX-License-Identifier: MIT */
/* A probe sees what it would see without Lapwing: receives that returned early
 * were posted before it, and take their own messages. The blocking ones go on
 * testing the pending ops; a nonblocking one waits for all ops first, since a
 * program may expect it to find what was sent before an earlier receive's message. */
#include "mpi/message/message_probe.h"

#include "base/lock.h"
#include "mpi/request/completion.h"
#include "mpi/dispatch.h"
#include "mpi/entries.h"
#include "op/late_errors.h"
#include "op/transfer.h"
#include "mpi/status.h"
#include "mpi/early.h"

/* Messages that are matched and not yet received; more than a few at once are
 * rare, and a forgotten one is only received without returning early. */
enum { MATCHES_MAX = 64 };

/* All under `lock`. A handle that comes back replaces its entry of before. */
static struct {
    struct base_lock lock;
    uint32_t next;
    MPI_Message messages[MATCHES_MAX];
    MPI_Status statuses[MATCHES_MAX];
} matches;

static bool message_is_real(MPI_Message message)
{
    return message != abi_handles.message_null && message != abi_handles.message_no_proc;
}

static uint32_t match_slot(MPI_Message message)
{
    uint32_t slot = 0;
    while (slot < MATCHES_MAX && matches.messages[slot] != message)
        slot++;
    return slot;
}

static void probe_remember(MPI_Message message, const MPI_Status *status)
{
    if (!message_is_real(message))
        return;
    base_lock_take(&matches.lock);
    uint32_t slot = match_slot(message);
    if (slot == MATCHES_MAX)
        slot = matches.next++ % MATCHES_MAX;
    matches.messages[slot] = message;
    matches.statuses[slot] = *status;
    base_lock_release(&matches.lock);
}

bool message_probe_recall(MPI_Message message, MPI_Status *status)
{
    if (!message_is_real(message))
        return false;
    base_lock_take(&matches.lock);
    uint32_t slot = match_slot(message);
    if (slot < MATCHES_MAX)
        *status = matches.statuses[slot];
    base_lock_release(&matches.lock);
    return slot < MATCHES_MAX;
}

/* What is probed for, and where the answer goes. */
struct probe {
    int source;
    int tag;
    MPI_Comm comm;
    MPI_Message *message; /* NULL: no matching */
    MPI_Status *status;
};

/* What was received early is answered for here; what is to be matched is not (early_close()). */
static bool probe_finds_early(const struct probe *probe)
{
    return early_probe(probe->source, probe->tag, probe->comm, probe->status);
}

static int probe_poll(void *probe, int *is_found)
{
    const struct probe *p = probe;
    if (p->message == NULL && probe_finds_early(p)) {
        *is_found = 1;
        return MPI_SUCCESS;
    }
    if (p->message == NULL)
        return real.MPI_Iprobe(p->source, p->tag, p->comm, is_found, p->status);
    return real.MPI_Improbe(p->source, p->tag, p->comm, is_found, p->message, p->status);
}

int message_probe_match(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return dispatch_block(probe_poll, &(struct probe){source, tag, comm, message, status});
}

int entry_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (busy_is_clear())
        return real.MPI_Probe(source, tag, comm, status);
    dispatch_wait_argument(status, sizeof *status);
    struct probe probe = {source, tag, comm, NULL, status};
    if (completion_must_loop())
        return late_errors_or(dispatch_block(probe_poll, &probe));
    dispatch_enter();
    if (probe_finds_early(&probe))
        return dispatch_leave_and_tell(MPI_SUCCESS);
    return dispatch_leave_and_tell(real.MPI_Probe(source, tag, comm, status));
}

/* Out of line: programs ask in loops, and the short way needs none of its registers. */
__attribute__((noinline)) static int probe_look(struct probe probe, int *flag)
{
    transfer_wait_due();
    dispatch_wait_argument(flag, sizeof *flag);
    dispatch_wait_argument(probe.status, sizeof *probe.status);
    dispatch_enter();
    return dispatch_leave_and_tell(probe_poll(&probe, flag));
}

int entry_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    if (busy_is_clear())
        return real.MPI_Iprobe(source, tag, comm, flag, status);
    return probe_look((struct probe){source, tag, comm, NULL, status}, flag);
}

static int probe_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    if (busy_is_clear())
        return real.MPI_Mprobe(source, tag, comm, message, status);
    if (completion_must_loop())
        return message_probe_match(source, tag, comm, message, status);
    dispatch_enter();
    return dispatch_leave(real.MPI_Mprobe(source, tag, comm, message, status));
}

int entry_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own_status = {0};
    MPI_Status *wanted = status_is_ignored(status) ? &own_status : status;
    MPI_Message found = abi_handles.message_null;
    early_close(source, tag, comm, "MPI_Mprobe");
    dispatch_wait_argument(message, sizeof *message);
    dispatch_wait_argument(status, sizeof *status);
    int result = probe_mprobe(source, tag, comm, &found, wanted);
    if (found == abi_handles.message_null)
        return result;
    *message = found;
    probe_remember(found, wanted);
    return result;
}

int entry_MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own_status = {0};
    MPI_Status *wanted = status_is_ignored(status) ? &own_status : status;
    early_close(source, tag, comm, "MPI_Improbe");
    transfer_wait_due();
    dispatch_enter();
    int result = real.MPI_Improbe(source, tag, comm, flag, message, wanted);
    if (result == MPI_SUCCESS && *flag)
        probe_remember(*message, wanted);
    return dispatch_leave(result);
}
