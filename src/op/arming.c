/* SPDX-License-Identifier: MIT */
#include "op/arming.h"

#include <stdatomic.h>

/* The low bits count the threads that arm now, the others how often one has ended. */
enum { ARMERS_END = 1 << 16 };

static _Atomic uint64_t state = ARMERS_END;

/* seq_cst, at all three: pairs with gate_enter() and gate_others_inside(). Either who arms
 * sees the thread inside, or that thread sees the arming. */
void arming_begin(void)
{
    atomic_fetch_add_explicit(&state, 1, memory_order_seq_cst);
}

void arming_end(void)
{
    atomic_fetch_add_explicit(&state, ARMERS_END - 1, memory_order_seq_cst);
}

uint64_t arming_moment(void)
{
    return atomic_load_explicit(&state, memory_order_seq_cst);
}

bool arming_is_under_way(void)
{
    return arming_moment() % ARMERS_END != 0;
}

bool arming_came_between(uint64_t moment)
{
    return moment % ARMERS_END != 0 || moment != arming_moment();
}
