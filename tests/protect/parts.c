/* SPDX-License-Identifier: MIT */
/* Claim: a hold is released part by part: pages below are free with what has come, those above still wait, and who
 * waits for a part goes on with it. */
#include "hold_test.h"

enum { PAGE = 4096, PAGES = 12, CUT = 5 };

static void receive_in_parts(char *memory)
{
    struct toucher early;
    struct toucher late;
    memset(memory, 'o', PAGES * PAGE);
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, PAGES * PAGE, TEST_OP);
    char *transit = protect_hold_transfer_address(hold);
    toucher_start(&early, memory + 2 * PAGE, false, 0);
    toucher_start(&late, memory + 8 * PAGE, false, 0);
    sleep_ms(20);
    arrive(transit, 'n', CUT * PAGE);
    protect_hold_events_read();
    protect_hold_release_until(hold, (uintptr_t)memory + CUT * PAGE);
    toucher_join(&early);
    check(early.value == 'n' && memory[0] == 'n' && memory[CUT * PAGE - 1] == 'n', "the first part is there");
    check(!atomic_load(&late.is_through), "who wants the second part waits");
    check(protect_armed_find((struct range){(uintptr_t)memory, (uintptr_t)memory + PAGE}, false) == 0,
          "the table knows that the first is free");
    arrive(transit + CUT * PAGE, 'm', (PAGES - CUT) * PAGE);
    protect_hold_release(hold);
    toucher_join(&late);
    check(late.value == 'm' && memory[PAGES * PAGE - 1] == 'm', "the second part comes with the release");
    check(memory[CUT * PAGE - 1] == 'n', "and the first stays");
}

static void send_in_parts(char *memory)
{
    struct toucher late;
    struct hold *hold = hold_arm(HOLD_NO_WRITE, memory, PAGES * PAGE, TEST_OP);
    protect_hold_release_until(hold, (uintptr_t)memory + CUT * PAGE);
    memory[CUT * PAGE - 1] = 'w'; /* else the test ends by time */
    toucher_start(&late, memory + CUT * PAGE, true, 'w');
    sleep_ms(20);
    check(!atomic_load(&late.is_through), "a writer waits for what is still being sent");
    protect_hold_release(hold);
    toucher_join(&late);
}

static void bounds_are_kept(char *memory)
{
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory, PAGES * PAGE, TEST_OP);
    protect_hold_release_until(hold, (uintptr_t)memory);
    protect_hold_release_until(hold, (uintptr_t)memory + PAGES * PAGE);
    check(protect_armed_find((struct range){(uintptr_t)memory, (uintptr_t)memory + 1}, false) != 0,
          "all of it is no part, nor is nothing");
    protect_hold_release(hold);
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    char *memory = memory_map(PAGES * PAGE);
    for (int i = 0; i < 5; i++) {
        receive_in_parts(memory);
        send_in_parts(memory);
        bounds_are_kept(memory);
    }
    return 0;
}
