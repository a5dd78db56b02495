/* SPDX-License-Identifier: MIT */
#include "engine/schedule.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first version of the kernel's struct (SCHED_ATTR_SIZE_VER0); libc has none. */
struct schedule_attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

enum { SHORTEST_SLICE_NS = 100000 };

void engine_schedule_promptly(void)
{
    struct schedule_attributes attributes = {.size = sizeof attributes};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime_ns = SHORTEST_SLICE_NS;
    attributes.flags = 0;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}
