/* SPDX-License-Identifier: MIT */
/* Claim: memory without pages, or with some, can be held; what was never written
 * reads as zero afterwards and blocks nobody. */
#include "hold_test.h"

enum { BYTES = 3 << 20, PAGE = 4096 };

static void receive_nothing(char *memory)
{
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory + 100, BYTES - 200, TEST_OP);
    protect_hold_release(hold);
    for (size_t i = 0; i < BYTES; i++)
        check(memory[i] == 0, "memory that nobody wrote is zero");
}

static void receive_some(char *memory)
{
    for (size_t i = 0; i < BYTES; i += 7 * PAGE)
        memory[i] = 'o';
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory + 100, BYTES - 200, TEST_OP);
    char *transit = (char *)protect_hold_transfer_address(hold) - 100;
    for (size_t i = 3 * PAGE; i < BYTES; i += 5 * PAGE)
        arrive(transit + i + 1, 'n', 1);
    protect_hold_release(hold);
    for (size_t i = 0; i < BYTES; i += PAGE)
        check(memory[i] == (i % (7 * PAGE) == 0 ? 'o' : 0), "pages that were there are there");
    for (size_t i = 3 * PAGE; i < BYTES; i += 5 * PAGE)
        check(memory[i + 1] == 'n', "pages that came in transit are there");
}

/* The write must wait although there is no page to protect. */
static void send_nothing(char *memory)
{
    struct toucher toucher;
    struct hold *hold = hold_arm(HOLD_NO_WRITE, memory, BYTES, TEST_OP);
    check(memory[BYTES / 2 + PAGE] == 0, "a send of untouched memory sends zeros");
    toucher_start(&toucher, memory + BYTES / 2, true, 'w');
    sleep_ms(30);
    check(!atomic_load(&toucher.is_through), "a write to a page that is not there waits");
    protect_hold_release(hold);
    toucher_join(&toucher);
    check(memory[BYTES / 2] == 'w', "and happens after the release");
    memset(memory, 'x', BYTES);
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    receive_nothing(memory_map(BYTES));
    receive_some(memory_map(BYTES));
    send_nothing(memory_map(BYTES));
    return 0;
}
