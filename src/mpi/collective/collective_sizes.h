/* SPDX-License-Identifier: MIT */
/* Where each rank knows its own counts alone (MPI_Alltoallv), no rank knows whether a call is large for all of them. So
 * now and then they add up what some calls have moved: after 4 calls of a function on a communicator, after 64, 1024,
 * and so on. From the first time that it is much on, each further call may return early. */
#ifndef MPI_COLLECTIVE_SIZES_H
#define MPI_COLLECTIVE_SIZES_H

#include <stdbool.h>
#include <stdint.h>

enum { COLLECTIVE_SIZES_MEASURED = 4 }; /* calls before the ranks add up */

/* Of a function on a communicator; alike on all of its ranks but for `bytes`. All 0 at first. */
struct collective_sizes {
    uint32_t calls;
    uint32_t due_calls; /* how many there are when the ranks add up; 0: as at first */
    uint64_t bytes;     /* of this rank, of the last calls */
    bool are_large;
};

/* One more call: true when it needs no measuring, and is passed. */
static inline bool collective_sizes_pass(struct collective_sizes *sizes)
{
    bool is_passed = !sizes->are_large && sizes->calls + COLLECTIVE_SIZES_MEASURED < sizes->due_calls;
    sizes->calls += is_passed;
    return is_passed;
}

/* Else, one that moves so many bytes here, and is passed, too. True: the ranks must add `bytes` up. */
bool collective_sizes_note(struct collective_sizes *sizes, uint64_t bytes);

/* The sum of all ranks. */
void collective_sizes_agree(struct collective_sizes *sizes, uint64_t all_bytes, int ranks, uint64_t threshold_bytes);

#endif
