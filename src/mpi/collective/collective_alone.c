/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_alone.h"

#include <stdio.h>
#include <stdlib.h>

#include "mpi/real.h"

void collective_alone_end(const char *why)
{
    (void)fprintf(stderr, "lapwing: %s: ranks could go different ways. Run with --collectives off.\n", why);
    real.MPI_Abort(abi_handles.comm_world, 1);
    abort();
}

void *collective_alone_memory(uint64_t length_bytes, const char *purpose)
{
    char why[128];
    void *memory = calloc(1, length_bytes);
    if (memory != NULL)
        return memory;
    (void)snprintf(why, sizeof why, "no memory for %s", purpose);
    collective_alone_end(why);
}
