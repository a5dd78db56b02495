/* SPDX-License-Identifier: MIT */
#include "plan.h"

static int last_of(const cpu_set_t *cores)
{
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET(last, cores))
        last--;
    return last;
}

/* Masks that do not overlap hold no more processors than the host has. */
static bool is_shared(const cpu_set_t *mask, long local_ranks, long online)
{
    return local_ranks > 1 && CPU_COUNT(mask) * local_ranks > online;
}

struct plan plan_cores(const cpu_set_t *mask, long local_ranks, long online, plan_siblings_fn *siblings)
{
    struct plan plan = {.refusal = "the ranks of this host share their cores; bind each rank to cores of its own"};
    if (is_shared(mask, local_ranks, online))
        return plan;
    siblings(last_of(mask), &plan.engine);
    CPU_AND(&plan.engine, &plan.engine, mask);
    CPU_XOR(&plan.program, mask, &plan.engine);
    bool is_possible = CPU_COUNT(&plan.engine) > 0 && CPU_COUNT(&plan.program) > 0;
    plan.refusal = is_possible ? NULL : "the rank has one core; give each rank two or more";
    return plan;
}
