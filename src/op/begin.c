/* SPDX-License-Identifier: MIT */
#include "op/begin.h"

#include <stddef.h>

#include "op/arming.h"
#include "op/busy.h"
#include "op/neighbours.h"
#include "op/session.h"
#include "op/wait.h"

enum reason begin_wait(const struct begin_message *message, struct begin_op *op)
{
    if (message->is_matched)
        transfer_wait_unmatched();
    transfer_wait_unmatched_of_others();
    wait_range(message->bytes, message->is_read);
    if (!session_has_engine())
        return REASON_NO_ENGINE;
    op->transfer = transfer_take();
    op->has_turn = message->keeps_order || transfer_unmatched() != 0;
    return op->transfer == NULL ? REASON_TOO_MANY_OPS : REASON_NONE;
}

enum reason begin_hold(struct transfer *transfer, const struct begin_memory *memory)
{
    bool is_shared = busy_is_shared();
    if (is_shared)
        arming_begin();
    enum reason reason = neighbours_check(memory->alone, memory->has_gaps, memory->may_hide_gaps);
    if (reason == REASON_NONE)
        reason = transfer_hold(transfer, memory->kind, memory->bytes);
    if (is_shared)
        arming_end();
    return reason;
}
