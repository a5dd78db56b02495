/* SPDX-License-Identifier: MIT */
#include "op/noted.h"

#include <stdint.h>

#include "engine/gate.h"
#include "op/arming.h"
#include "op/transfer.h"
#include "op/wait.h"

/* As many as calls name, but for those with long arrays of buffers. Each thread carries them, on the smallest stack. */
enum { RANGES_MAX = 16 };

/* moment: before the first look at the holds; 0: the call named no memory. More ranges than there is room for, or
 * unknown ones: are_unknown. */
static _Thread_local struct {
    uint64_t moment;
    struct range ranges[RANGES_MAX];
    uint8_t count;
    bool are_unknown;
    bool are_read[RANGES_MAX];
} noted;

static void noted_begin(void)
{
    if (noted.moment == 0)
        noted.moment = arming_moment();
}

void noted_add(struct range bytes, bool is_read)
{
    if (!gate_is_shared())
        return;
    noted_begin();
    if (noted.count == RANGES_MAX) {
        noted.are_unknown = true;
        return;
    }
    noted.are_read[noted.count] = is_read;
    noted.ranges[noted.count++] = bytes;
}

void noted_add_unknown(void)
{
    noted_begin();
    noted.are_unknown = true;
}

void noted_forget(void)
{
    noted.moment = 0;
    noted.count = 0;
    noted.are_unknown = false;
}

bool noted_is_overtaken(void)
{
    bool is_noted = noted.moment != 0 && gate_is_shared() && gate_thread.depth == 1;
    return is_noted && arming_came_between(noted.moment);
}

void noted_wait_any_memory(void)
{
    transfer_wait_due();
    if (gate_is_shared())
        wait_range(base_range_of_all(), false);
}

void noted_look_again(void)
{
    noted.moment = arming_moment();
    if (noted.are_unknown)
        noted_wait_any_memory();
    for (int i = 0; i < noted.count; i++)
        wait_range(noted.ranges[i], noted.are_read[i]);
}
