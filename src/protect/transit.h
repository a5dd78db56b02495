/* SPDX-License-Identifier: MIT */
/* The transit range: where the pages of a receive, or of a send with copies on touch, live while they are held. */
#ifndef PROTECT_TRANSIT_H
#define PROTECT_TRANSIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"

/* What is received and what is sent go different ways: a message that is being sent may end on the page where one
 * begins that is being received. */
enum transit { TRANSIT_RECEIVE, TRANSIT_SEND };

/* A fixed function of the address: a registration cache that remembers the
 * transit address stays true, since it always means the same pages. Both ends
 * are congruent modulo 2 MiB (and any smaller page table), so that the kernel
 * moves whole page tables. Bits 46 and 45 quarter the 47 bits that x86-64 gives to
 * user space; on aarch64 with 48 bits they are below the top as well. The kernel places
 * mappings from the top down and would need 32 TiB of them to get there. */
static inline uintptr_t transit_address(enum transit transit, uintptr_t address)
{
    uintptr_t bits = transit == TRANSIT_RECEIVE ? 2 : 3;
    return address ^ bits << 45;
}

static inline struct range transit_range(enum transit transit, struct range pages)
{
    uintptr_t low = transit_address(transit, pages.low);
    return (struct range){low, low + (pages.high - pages.low)};
}

/* Moves the pages out and leaves an empty mapping behind. False when the place
 * in transit is taken or the kernel refuses; then nothing has moved. */
bool transit_move_out(enum transit transit, struct range pages);

/* Moves home what is still in transit of a few pages; the others are there already. */
void transit_fetch(enum transit transit, struct range pages);

/* Puts memory without a use where the pages of a receive were in transit. */
void transit_fill(struct range pages);

/* Copies what is in transit of a receive. */
void transit_copy(void *room, struct range pages);

/* Puts that copy where those pages were in transit, which have been moved home. */
void transit_lay(void *copy, struct range pages);

/* Copies home what has arrived in the copy that was laid there, and gives it back. */
void transit_join(struct range bytes);

/* Brings them back in one step, whatever the empty mapping has become. */
void transit_move_home(enum transit transit, struct range pages);

#endif
