/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MREMAP_*, MADV_FREE */
#include "protect/transit.h"

#include <errno.h>
#include <string.h>

#include "base/pages.h"
#include "base/patience.h"
#include "base/room.h"
#include "protect/hold.h"
#include "protect/kernel.h"
#include "protect/memory_kept.h"
#include "protect/refusal.h"
#include "protect/reserve.h"

/* linux/mman.h; Linux 5.7, glibc 2.32 */
enum { TRANSIT_DONTUNMAP = 4 };

/* Moves mapped pages over whatever is at `target`. The kernel may want mappings
 * that the program has used up. */
static bool move_over(struct range pages, uintptr_t target)
{
    bool is_done;
    do
        is_done = kernel_mremap(pages, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target;
    while (!is_done && errno == ENOMEM && reserve_spend());
    return is_done;
}

/* What stands between the program and its data is some kernel memory: it may come back. No other error passes, and
 * the data are at neither place where the program looks for them.
 * pauses_left: of one buffer, however many pieces it has: whoever waits here holds locks. */
static void move_over_patiently(struct range pages, uintptr_t target, int *pauses_left)
{
    while (!move_over(pages, target)) {
        int error = errno;
        bool may_pass = error == ENOMEM || error == EAGAIN;
        if (!may_pass || !base_patience_pause(pauses_left))
            refusal_end("move a message's data back", error, "compute with wrong ones");
    }
}

static void move_over_at_last(struct range pages, uintptr_t target)
{
    int pauses_left = BASE_PATIENCE_PAUSES;
    move_over_patiently(pages, target, &pauses_left);
}

/* Of pages that have been moved away. Without them MADV_FREE only asks: it is refused wherever a mapping is of a file,
 * even a private one (madvise(2)), of huge pages or locked. */
static bool is_left_anonymous(struct range pages)
{
    return syscall(SYS_madvise, pages.low, pages.high - pages.low, MADV_FREE) == 0;
}

/* What is kept about memory may miss a private file that was mapped past libc: a touch would find the file's page there
 * instead of waiting. */
static bool transit_check(enum transit transit, struct range pages)
{
    if (!memory_kept_is_used() || is_left_anonymous(pages))
        return true;
    transit_move_home(transit, pages);
    return false;
}

/* Without MREMAP_FIXED the target is a wish: the kernel grants it only where
 * nothing is mapped, so that nobody's memory is overwritten. This costs less
 * than to claim the range with MAP_FIXED_NOREPLACE first (1.4 us and the
 * unmapping of that claim) and leaves nothing behind between two holds. */
bool transit_move_out(enum transit transit, struct range pages)
{
    uintptr_t target = transit_address(transit, pages.low);
    uintptr_t landed = kernel_mremap(pages, MREMAP_MAYMOVE | TRANSIT_DONTUNMAP, target);
    if (landed == target)
        return transit_check(transit, pages);
    if (landed == (uintptr_t)MAP_FAILED)
        return false;
    struct range elsewhere = {landed, landed + (pages.high - pages.low)};
    move_over_at_last(elsewhere, pages.low);
    return false;
}

/* Whole pages nearest to the middle. */
static uintptr_t middle_of(struct range pages)
{
    size_t half_bytes = (pages.high - pages.low) / 2;
    return pages.low + (half_bytes & ~(base_page_bytes() - 1));
}

/* Before Linux 6.17 mremap takes one mapping at a time. Pieces that were moved
 * one by one merge in transit, but nothing promises that; if they did not (or
 * somebody advised a part of the transit range), halves find the seams. */
static void halves_move_home(enum transit transit, struct range pages, int *pauses_left)
{
    if (move_over(transit_range(transit, pages), pages.low))
        return;
    uintptr_t middle = middle_of(pages);
    if (middle == pages.low) {
        move_over_patiently(transit_range(transit, pages), pages.low, pauses_left);
        return;
    }
    halves_move_home(transit, (struct range){pages.low, middle}, pauses_left);
    halves_move_home(transit, (struct range){middle, pages.high}, pauses_left);
}

void transit_move_home(enum transit transit, struct range pages)
{
    int pauses_left = BASE_PATIENCE_PAUSES;
    halves_move_home(transit, pages, &pauses_left);
}

void transit_fetch(enum transit transit, struct range pages)
{
    size_t page_bytes = base_page_bytes();
    for (uintptr_t page = pages.low; page < pages.high; page += page_bytes)
        (void)move_over(transit_range(transit, (struct range){page, page + page_bytes}), page);
}

void transit_fill(struct range pages)
{
    struct range transit_pages = transit_range(TRANSIT_RECEIVE, pages);
    syscall(SYS_mmap, transit_pages.low, transit_pages.high - transit_pages.low, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0L);
}

/* Address space, which the kernel has promised memory for. */
void *protect_hold_room_take(struct range pages)
{
    enum { PROTECTION = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };
    if (!base_room_remains(pages.high - pages.low, BASE_ROOM_TO_HOLD_BYTES))
        return NULL;
    uintptr_t room = (uintptr_t)syscall(SYS_mmap, NULL, pages.high - pages.low, PROTECTION, FLAGS, -1, 0L);
    return room == (uintptr_t)MAP_FAILED ? NULL : (void *)room;
}

void protect_hold_room_give_back(void *room, struct range pages)
{
    syscall(SYS_munmap, room, pages.high - pages.low);
}

void transit_copy(void *room, struct range pages)
{
    memcpy(room, (const void *)transit_address(TRANSIT_RECEIVE, pages.low), pages.high - pages.low);
}

void transit_lay(void *copy, struct range pages)
{
    struct range laid = {(uintptr_t)copy, (uintptr_t)copy + (pages.high - pages.low)};
    move_over_at_last(laid, transit_address(TRANSIT_RECEIVE, pages.low)); /* MPI writes there, where nothing is */
}

void transit_join(struct range bytes)
{
    struct range pages = transit_range(TRANSIT_RECEIVE, base_pages_of(bytes));
    memcpy((void *)bytes.low, (const void *)transit_address(TRANSIT_RECEIVE, bytes.low), bytes.high - bytes.low);
    syscall(SYS_munmap, pages.low, pages.high - pages.low);
}
