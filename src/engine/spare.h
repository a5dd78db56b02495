/* SPDX-License-Identifier: MIT */
/* Hardware threads that the ranks of this host leave unused, for `--engine-cores auto`. */
#ifndef ENGINE_SPARE_H
#define ENGINE_SPARE_H

#include <sched.h>
#include <stdbool.h>

/* The name of every engine's thread, from before it is bound. */
#define ENGINE_SPARE_THREAD "lapwing-engine"

/* Where the kernel tells of processes and processors. */
struct engine_spare_folders {
    const char *processes;  /* /proc */
    const char *processors; /* /sys/devices/system/cpu */
};

/* is_known: all ranks of this host were seen. Either set may be empty, or hold what this process may not have: the
 * kernel takes what the cpuset allows of it. */
struct engine_spare {
    bool is_known;
    cpu_set_t idle;   /* of cores that no rank uses */
    cpu_set_t beside; /* of cores of which this process alone uses a hardware thread, the others of them */
};

/* rank_variable: processes that have it in their environment are the ranks; those of other users, and of other
 * containers, cannot be read. ranks: how many there must be at least, this one included; less than 1: nobody says.
 * Their threads' masks are what is used, but for those of engines, and so is `own`. After MPI_Init, when all ranks are
 * there. No allocation. */
struct engine_spare engine_spare_find(struct engine_spare_folders folders, const char *rank_variable, long ranks,
                                      const cpu_set_t *own);

#endif
