/* SPDX-License-Identifier: MIT */
#include "op/busy.h"
#include "op/noted.h"

#include "engine/gate.h"
#include "op/arming.h"
#include "op/thread.h"
#include "op/transfer.h"
#include "op/wait.h"

static void noted_begin(void)
{
    if (op_thread.noted.moment == 0)
        op_thread.noted.moment = arming_moment();
}

void noted_add(struct range bytes, bool is_read)
{
    if (!busy_is_shared())
        return;
    noted_begin();
    if (op_thread.noted.count == THREAD_RANGES_MAX) {
        op_thread.noted.are_unknown = true;
        return;
    }
    op_thread.noted.are_read[op_thread.noted.count] = is_read;
    op_thread.noted.ranges[op_thread.noted.count++] = bytes;
}

void noted_add_unknown(void)
{
    if (!busy_is_shared())
        return;
    noted_begin();
    op_thread.noted.are_unknown = true;
}

void noted_wait_any_memory(void)
{
    transfer_wait_due();
    if (busy_is_shared())
        wait_range(base_range_of_all(), false);
}

static bool noted_is_overtaken(void)
{
    return op_thread.noted.moment != 0 && gate_thread.depth == 1 && arming_came_between(op_thread.noted.moment);
}

static void noted_look_again(void)
{
    op_thread.noted.moment = arming_moment();
    if (op_thread.noted.are_unknown)
        noted_wait_any_memory();
    for (int i = 0; i < op_thread.noted.count; i++)
        wait_range(op_thread.noted.ranges[i], op_thread.noted.are_read[i]);
}

void noted_forget(void)
{
    op_thread.noted.moment = 0;
    op_thread.noted.count = 0;
    op_thread.noted.are_unknown = false;
}

void noted_catch_up(void)
{
    while (noted_is_overtaken()) {
        gate_leave();
        noted_look_again();
        gate_enter();
    }
    noted_forget();
}
