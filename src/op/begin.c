/* SPDX-License-Identifier: MIT */
#include "op/begin.h"

#include <stddef.h>

#include "engine/gate.h"
#include "op/arming.h"
#include "op/busy.h"
#include "op/neighbours.h"
#include "op/noted.h"
#include "op/requests.h"
#include "op/session.h"
#include "op/wait.h"

static void begin_wait(const struct begin_message *message)
{
    if (message->is_matched)
        transfer_wait_unmatched();
    transfer_wait_unmatched_of_others();
    wait_range(message->bytes, message->is_read);
}

static void begin_describe(const struct begin_message *message, struct begin_op *op)
{
    op->has_turn = message->keeps_order || transfer_unmatched() != 0;
    op->are_others = !busy_is_clear();
    op->are_requests = requests_are_tracked() || untracked_are_some();
}

enum reason begin_enter(const struct begin_message *message, struct begin_op *op)
{
    if (!busy_is_clear()) /* else nothing is held, and nothing unmatched */
        begin_wait(message);
    op->transfer = transfer_take();
    if (op->transfer == NULL)
        return REASON_TOO_MANY_OPS;
    begin_describe(message, op);
    if (!session_has_engine()) {
        transfer_cancel(op->transfer);
        return REASON_NO_ENGINE;
    }
    if (gate_enter())
        noted_catch_up();
    return REASON_NONE;
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

void begin_reduction(void)
{
    if (gate_arithmetic_is_other())
        transfer_wait_due();
    gate_note_arithmetic();
}

void begin_expect_callbacks(void)
{
    session_refuse(REASON_CALLBACK);
    transfer_expect_callbacks();
    requests_end_assists();
}
