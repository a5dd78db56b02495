/* SPDX-License-Identifier: MIT */
#include "mpi/collective/collective_sizes.h"

enum { FIRST_CALLS = COLLECTIVE_SIZES_MEASURED, GROWTH = 16 };

bool collective_sizes_note(struct collective_sizes *sizes, uint64_t bytes)
{
    if (sizes->due_calls == 0)
        sizes->due_calls = FIRST_CALLS;
    sizes->bytes += bytes;
    sizes->calls++;
    return sizes->calls == sizes->due_calls;
}

void collective_sizes_agree(struct collective_sizes *sizes, uint64_t all_bytes, int ranks, uint64_t threshold_bytes)
{
    sizes->are_large = all_bytes / ((uint64_t)ranks * COLLECTIVE_SIZES_MEASURED) >= threshold_bytes;
    sizes->bytes = 0;
    /* After two thousand million calls the count begins anew, on all ranks alike. */
    if (__builtin_mul_overflow(sizes->due_calls, (uint32_t)GROWTH, &sizes->due_calls))
        *sizes = (struct collective_sizes){.are_large = sizes->are_large};
}
