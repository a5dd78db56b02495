/* SPDX-License-Identifier: MIT */
/* The transit range: where the pages of a receive, or of a send with copies on touch, live while they are held. */
#ifndef PROTECT_TRANSIT_H
#define PROTECT_TRANSIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"

/* A fixed function of the address: a registration cache that remembers the
 * transit address stays true, since it always means the same pages. Both ends
 * are congruent modulo 2 MiB (and any smaller page table), so that the kernel
 * moves whole page tables. Bit 46 halves the 47 bits that x86-64 gives to user
 * space; on aarch64 with 48 bits it is below the top as well. The kernel places
 * mappings from the top down and would need 64 TiB of them to get there. */
static inline uintptr_t transit_address(uintptr_t address)
{
    return address ^ ((uintptr_t)1 << 46);
}

static inline struct range transit_range(struct range pages)
{
    return (struct range){transit_address(pages.low), transit_address(pages.low) + (pages.high - pages.low)};
}

/* Moves the pages out and leaves an empty mapping behind. False when the place
 * in transit is taken or the kernel refuses; then nothing has moved. */
bool transit_move_out(struct range pages);

/* Moves home what is still in transit of a few pages; the others are there already. */
void transit_fetch(struct range pages);

/* Puts memory without a use where the pages of a hold were in transit. */
void transit_fill(struct range pages);

/* Brings them back in one step, whatever the empty mapping has become. */
void transit_move_home(struct range pages);

#endif
