/* SPDX-License-Identifier: MIT */
/* Claim: threads that touch a hold wait until its release, see what arrived,
 * and the touch is reported once, with its op and place. */
#include "hold_test.h"

enum { PAGES = 64, TOUCHERS = 5 };

static void wait_until_reported(void)
{
    for (int i = 0; i < 2000 && atomic_load(&touches_seen) == 0; i++) {
        protect_hold_events_read();
        sleep_ms(1);
    }
    check(atomic_load(&touches_seen) != 0, "the touch is reported while it waits");
}

static void expect_all_waiting(struct toucher *touchers)
{
    sleep_ms(30);
    protect_hold_events_read();
    for (int i = 0; i < TOUCHERS; i++)
        check(!atomic_load(&touchers[i].is_through), "a touch waits");
    check(atomic_load(&touches_seen) == 1, "a hold is reported once");
    check(atomic_load(&touched_op) == TEST_OP, "the report names the op");
}

static void touch_receive(char *memory, size_t length_bytes)
{
    struct toucher touchers[TOUCHERS];
    atomic_store(&touches_seen, 0);
    memset(memory, 'o', length_bytes);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, length_bytes, TEST_OP);
    arrive(protect_hold_transfer_address(hold), 'n', length_bytes);
    for (int i = 0; i < TOUCHERS; i++)
        toucher_start(&touchers[i], memory + 3 + 8000 * i, i == 2, 'w');
    wait_until_reported();
    expect_all_waiting(touchers);
    uintptr_t page = (uintptr_t)memory & ~(uintptr_t)4095;
    check(atomic_load(&touched_address) >= page, "the report names the place");
    protect_hold_release(hold);
    for (int i = 0; i < TOUCHERS; i++)
        toucher_join(&touchers[i]);
    for (int i = 0; i < TOUCHERS; i++)
        check(touchers[i].value == (i == 2 ? 'w' : 'n'), "a touch sees what arrived");
    check(memory[3 + 16000] == 'w', "a write that waited is not lost");
}

static void touch_send(char *memory, size_t length_bytes)
{
    struct toucher touchers[TOUCHERS];
    atomic_store(&touches_seen, 0);
    memset(memory, 'o', length_bytes);
    struct hold *hold = hold_arm(HOLD_NO_WRITE, memory, length_bytes, TEST_OP);
    check(protect_hold_transfer_address(hold) == memory, "MPI reads in place");
    check(memory[length_bytes / 2] == 'o', "reading does not wait");
    for (int i = 0; i < TOUCHERS; i++)
        toucher_start(&touchers[i], memory + 3 + 8000 * i, true, 'w');
    wait_until_reported();
    expect_all_waiting(touchers);
    check(memory[3] == 'o', "a write that waits has not happened");
    protect_hold_release(hold);
    for (int i = 0; i < TOUCHERS; i++)
        toucher_join(&touchers[i]);
    check(memory[3] == 'w' && memory[3 + 32000] == 'w', "writes that waited happen after the release");
}

/* The event is read only by the release. */
static void touch_read_late(char *memory, size_t length_bytes)
{
    struct toucher toucher;
    atomic_store(&touches_seen, 0);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, length_bytes, TEST_OP);
    toucher_start(&toucher, memory + 5, false, 0);
    while (!atomic_load(&toucher.has_begun))
        sleep_ms(1);
    sleep_ms(30);
    protect_hold_release(hold);
    toucher_join(&toucher);
    check(atomic_load(&touches_seen) == 1, "a touch is reported even when nobody read the events");
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    char *memory = memory_map(PAGES * 4096);
    for (size_t offset = 0; offset < 3000; offset += 1777) {
        touch_receive(memory + offset, 60 * 4096 + 11);
        touch_send(memory + offset, 60 * 4096 + 11);
        touch_read_late(memory + offset, 60 * 4096 + 11);
    }
    return 0;
}
