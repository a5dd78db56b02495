/* SPDX-License-Identifier: MIT */
#include "op/wait.h"

#include "engine/gate.h"
#include "op/busy.h"
#include "op/host.h"
#include "op/observer.h"
#include "op/session.h"
#include "op/thread.h"
#include "op/transfer.h"

static void range_wait(struct range bytes, bool is_read, bool is_counted)
{
    uint64_t id;
    if (!protect_armed_is_any() || gate_is_inside() || (protect_holds_in_place() && gate_thread.is_of_mpi))
        return;
    observer.used(bytes, is_read);
    bool may_wait = true;
    while (may_wait && (id = protect_armed_find(bytes, is_read)) != 0) {
        if (is_counted)
            transfer_note_wait(id);
        may_wait = transfer_wait(id);
    }
    gate_settle_rights();
}

void wait_range(struct range bytes, bool is_read)
{
    range_wait(bytes, is_read, true);
}

void wait_range_uncounted(struct range bytes, bool is_read)
{
    range_wait(bytes, is_read, false);
}

/* May a thread inside MPI, in a function of the program's that MPI has called, wait for other threads' messages? Under
 * MPI_THREAD_MULTIPLE the engine comes in beside it, unless it has asked the engine to stay out. MPI itself uses no
 * memory that is held, but for what may be read. With protection keys it does. */
static bool may_wait_inside(void)
{
    bool is_own = !gate_thread.is_of_mpi && !op_thread.is_leaving; /* no engine works for who leaves */
    return busy_is_shared() && is_own && !gate_is_waiting() && !protect_holds_in_place();
}

void wait_call_range(struct range bytes, bool is_read)
{
    if (!gate_is_inside())
        range_wait(bytes, is_read, true);
    else if (protect_system_calls_fail() && may_wait_inside())
        protect_armed_wait(bytes);
}

void wait_all(void)
{
    if (protect_armed_is_any())
        observer.all_used();
    transfer_wait_all_unless_interrupted();
}

void wait_known(void)
{
    if (!host.threads_are_several()) {
        wait_all();
        return;
    }
    if (protect_armed_is_any())
        observer.all_used();
    transfer_wait_own();
}

void wait_copied(void)
{
    bool was_in_vain = session_hold_reason() == REASON_FORK; /* lest every fork take as long */
    observer.all_used();
    if (!transfer_wait_received(was_in_vain ? 0 : TRANSFER_PATIENCE_S))
        session_refuse_holds(REASON_FORK);
}
