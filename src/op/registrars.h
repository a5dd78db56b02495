/* SPDX-License-Identifier: MIT */
/* Does the program use a runtime whose functions make memory known to a device: CUDA, HIP, Level Zero, verbs,
 * liburing? Such a runtime pins pages, or reads any memory of the process (heterogeneous memory management), past
 * whatever Lapwing could follow. MPI and its transports use them, too, at addresses that holds do not move. */
#ifndef OP_REGISTRARS_H
#define OP_REGISTRARS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Does any library of the program's that is loaded now call such a function? Looks again when something was loaded
 * since the last time, which *loads_seen keeps, first 0; else a few nanoseconds. Any thread. */
bool registrars_are_called(_Atomic unsigned long long *loads_seen);

/* Is this the name of such a function, or of one that gives its address? */
bool registrars_include(const char *name);

#endif
