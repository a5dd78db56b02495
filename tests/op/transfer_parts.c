/* SPDX-License-Identifier: MIT */
/* Claim: whoever waits at a touch of an op is counted until what was touched is there, whatever part of the op, or of
 * another of its holds, is given back meanwhile. An engine that looks by request sleeps when nobody is counted. */
#include "op/transfer.h"

#include "../protect/hold_test.h"
#include "op/host.h"
#include "op/observer.h"

const struct host host;
const struct observer observer;

enum { PAGE = 4096, PAGES = 4, LOOKS = 2000 };

static uint32_t waiters(void)
{
    protect_hold_events_read();
    return atomic_load(&engine_pending_state.waiters);
}

static void expect_waiters(uint32_t count, const char *text)
{
    for (int i = 0; i < LOOKS && waiters() != count; i++)
        sleep_ms(1);
    check(waiters() == count, text);
    sleep_ms(5);
    check(waiters() == count, text);
}

/* Two blocks of a collective, one after the other. */
static struct transfer *blocks_hold(char *memory)
{
    struct transfer *transfer = transfer_take();
    for (int block = 0; block < 2; block++) {
        struct range bytes = base_range_of(memory + block * PAGES * PAGE, PAGES * PAGE);
        check(transfer_hold(transfer, HOLD_NO_ACCESS, bytes) == REASON_NONE, "memory can be held");
    }
    return transfer;
}

static void release_pages(struct transfer *transfer, char *memory, uint32_t block, int pages)
{
    transfer_release_until(transfer, block, (uintptr_t)memory + (block * PAGES + (uint32_t)pages) * PAGE);
}

/* All blocks come at the same pace. */
static void wait_for_end_of_first(char *memory)
{
    struct toucher toucher;
    struct transfer *transfer = blocks_hold(memory);
    toucher_start(&toucher, memory + (PAGES - 1) * PAGE, false, 0);
    expect_waiters(1, "the touch is counted");
    for (int pages = 1; pages < PAGES; pages++) {
        release_pages(transfer, memory, 0, pages);
        release_pages(transfer, memory, 1, pages);
        expect_waiters(1, "what was touched is not there yet");
    }
    check(!atomic_load(&toucher.is_through), "who touched it waits");
    release_pages(transfer, memory, 0, PAGES);
    check(waiters() == 1, "all of a hold is no part of it");
    transfer_cancel(transfer);
    check(waiters() == 0, "nobody waits any more");
    toucher_join(&toucher);
}

/* Only the first touch of an op is counted. */
static void wait_in_two_places(char *memory, char *further)
{
    struct toucher first;
    struct toucher second;
    struct transfer *transfer = blocks_hold(memory);
    toucher_start(&first, memory, false, 0);
    expect_waiters(1, "the first touch is counted");
    toucher_start(&second, further, false, 0);
    sleep_ms(10);
    expect_waiters(1, "once for the op");
    release_pages(transfer, memory, 0, 1);
    toucher_join(&first);
    expect_waiters(1, "who waits further on counts from now on");
    check(!atomic_load(&second.is_through), "and still waits");
    transfer_cancel(transfer);
    toucher_join(&second);
    expect_waiters(0, "nobody waits any more");
}

int main(int argument_count, char **arguments)
{
    const char *name = argument_count > 1 ? arguments[1] : "signal";
    if (!protect_start(choice_of(name), transfer_touched)) {
        printf("skipped: this machine refuses the backend %s\n", name);
        return EXIT_SKIPPED;
    }
    char *memory = memory_map(2 * PAGES * PAGE);
    wait_for_end_of_first(memory);
    wait_in_two_places(memory, memory + (PAGES - 1) * PAGE);
    wait_in_two_places(memory, memory + PAGES * PAGE);
    protect_stop();
    return 0;
}
