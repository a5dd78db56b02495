/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_alone.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/patience.h"
#include "mpi/real.h"

void collective_alone_end(const char *why)
{
    (void)fprintf(stderr, "lapwing: %s: ranks could go different ways. Run with --collectives off.\n", why);
    real.MPI_Abort(abi_handles.comm_world, 1);
    abort();
}

/* Memory that is missing now may be there in a moment. */
static void *memory_find(uint64_t length_bytes)
{
    int pauses_left = BASE_PATIENCE_PAUSES;
    void *memory = calloc(1, length_bytes);
    while (memory == NULL && base_patience_pause(&pauses_left))
        memory = calloc(1, length_bytes);
    return memory;
}

void *collective_alone_memory(uint64_t length_bytes, const char *purpose)
{
    char why[128];
    void *memory = memory_find(length_bytes);
    if (memory != NULL)
        return memory;
    (void)snprintf(why, sizeof why, "no memory for %s", purpose);
    collective_alone_end(why);
}
