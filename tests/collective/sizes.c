/* SPDX-License-Identifier: MIT */
/* Claims: ranks add up what calls move after 4, 64, 1024 calls, and only until it is much. */
#include "mpi/collective/collective_sizes.h"

#include "../base/claim.h"

enum { RANKS = 2, SMALL = 8, LARGE = 1 << 20, THRESHOLD = 1 << 16 };

/* One call: true when the ranks add up at it. */
static bool call(struct collective_sizes *sizes, uint64_t bytes)
{
    return !collective_sizes_pass(sizes) && collective_sizes_note(sizes, bytes);
}

static uint32_t calls_until_due(struct collective_sizes *sizes, uint64_t bytes)
{
    uint32_t calls = 1;
    while (!call(sizes, bytes))
        calls++;
    return calls;
}

static void small_calls_are_measured_more_and_more_rarely(void)
{
    struct collective_sizes sizes = {0};
    for (uint32_t due = 4, before = 0; due <= 4 * 16 * 16 * 16; due *= 16) {
        claim(calls_until_due(&sizes, SMALL) == due - before, "4, 64, 1024, 16384 calls");
        claim(sizes.bytes == 4 * SMALL, "the last four are measured");
        collective_sizes_agree(&sizes, RANKS * sizes.bytes, RANKS, THRESHOLD);
        claim(!sizes.are_large, "small ones stay MPI's own");
        before = due;
    }
}

static void large_calls_begin_once_they_are_known(void)
{
    struct collective_sizes sizes = {0};
    claim(calls_until_due(&sizes, LARGE) == 4, "four calls");
    collective_sizes_agree(&sizes, sizes.bytes, RANKS, THRESHOLD);
    claim(sizes.are_large, "one rank moves enough for two");
    claim(!collective_sizes_pass(&sizes), "none is passed any more");
}

static void the_count_ends_before_it_overflows(void)
{
    struct collective_sizes sizes = {.calls = UINT32_MAX / 2, .due_calls = UINT32_MAX / 2 + 1};
    claim(call(&sizes, SMALL), "due");
    collective_sizes_agree(&sizes, SMALL, RANKS, THRESHOLD);
    claim(calls_until_due(&sizes, SMALL) == 4, "and begins anew");
}

int main(void)
{
    small_calls_are_measured_more_and_more_rarely();
    large_calls_begin_once_they_are_known();
    the_count_ends_before_it_overflows();
    return 0;
}
