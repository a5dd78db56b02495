/* SPDX-License-Identifier: MIT */
#include "op/idle.h"

#include <stdatomic.h>

#include "engine/gate.h"
#include "op/arming.h"
#include "op/busy.h"
#include "protect/armed.h"

/* What busy_count has under MPI_THREAD_MULTIPLE for ever. */
enum { BUSY_LEAST = 1 };

bool idle_is_still(void)
{
    return atomic_load_explicit(&straight.busy_count, memory_order_acquire) == BUSY_LEAST;
}

/* acquire: who reads 0 has the pages back (table_retire()). */
static bool idle_is_nothing_held(void)
{
    return !arming_is_under_way() && atomic_load_explicit(&protect_armed_count, memory_order_acquire) == 0;
}

/* In this order: a hold that shares a page is armed between arming_begin() and arming_end(), and only if nobody is
 * inside. Who arms sees this thread inside, or this thread sees the arming, or what has been armed. The number is
 * raised later, but before the call that holds returns: nobody can know of that op before. */
bool idle_enter(void)
{
    if (gate_is_inside() || !idle_is_still())
        return false;
    gate_enter();
    if (idle_is_nothing_held() && idle_is_still())
        return true;
    gate_leave();
    return false;
}
