/* SPDX-License-Identifier: MIT */
/* Which of its cores a rank gives up for the engine. */
#ifndef LIB_PLAN_H
#define LIB_PLAN_H

#include <sched.h>
#include <stdbool.h>

/* The hardware threads of the core that a processor belongs to, itself included
 * (/sys/devices/system/cpu/cpuN/topology/thread_siblings_list). */
typedef void plan_siblings_fn(int processor, cpu_set_t *siblings);

struct plan {
    cpu_set_t program;
    cpu_set_t engine;
    const char *refusal; /* why no core can be given up; NULL: the sets are valid */
};

/* `mask`: the rank's processors. `local_ranks`: ranks on this host, 0 when
 * unknown. `online`: processors of this host. The engine gets the last core of
 * the mask with all its hardware threads, so that none of them is shared. */
struct plan plan_cores(const cpu_set_t *mask, long local_ranks, long online, plan_siblings_fn *siblings);

#endif
