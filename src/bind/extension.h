/* SPDX-License-Identifier: MIT */
/* MPI functions that Lapwing does not follow: class foreign of mpi/functions.toml, and
 * those that it lacks (bind/unknown.c). What they begin, make, or have MPI call is
 * unknown, so all that is under way is waited for, and from then on every call is passed. */
#ifndef BIND_EXTENSION_H
#define BIND_EXTENSION_H

#include <stddef.h>

/* Called by the entries in assembly with the number of the name; returns MPI's own function, which
 * then gets its arguments as they were, whatever they are. */
void *extension_stop(size_t index, int first_argument);

#endif
