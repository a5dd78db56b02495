/* SPDX-License-Identifier: MIT */
/* What this rank cannot do while the others go on: they would wait for it, or take one collective for another. So the
 * job ends, and says why. */
#ifndef MPI_COLLECTIVE_ALONE_H
#define MPI_COLLECTIVE_ALONE_H

#include <stdint.h>

_Noreturn void collective_alone_end(const char *why);

/* So many bytes, zero, to be freed. What they are for goes into the message where there are none. */
void *collective_alone_memory(uint64_t length_bytes, const char *purpose);

#endif
