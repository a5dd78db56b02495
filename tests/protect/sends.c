/* SPDX-License-Identifier: MIT */
/* Claim: of several sends whose pages overlap, the release of one lets writers
 * in exactly where no other is armed, whatever the order. */
#include "hold_test.h"

enum { PAGE = 4096, PAGES = 40, HOLDS = 5, ORDERS = 40 };

static char *memory;

/* First page and number of pages. */
static const int extents[HOLDS][2] = {{2, 10}, {8, 10}, {4, 3}, {30, 5}, {0, 40}};

static bool is_covered(const bool *armed, int page)
{
    for (int i = 0; i < HOLDS; i++)
        if (armed[i] && page >= extents[i][0] && page < extents[i][0] + extents[i][1])
            return true;
    return false;
}

static void expect_page(const bool *armed, int page)
{
    uintptr_t low = (uintptr_t)memory + (uintptr_t)page * PAGE;
    bool is_held = protect_armed_find((struct range){low, low + 1}, false) != 0;
    check(is_held == is_covered(armed, page), "the table knows which pages are held");
    if (!is_held)
        *(volatile char *)low += 1; /* a page that nobody holds does not block: else the test ends by time */
}

static void release_in_order(unsigned seed)
{
    struct hold *holds[HOLDS];
    bool armed[HOLDS];
    for (int i = 0; i < HOLDS; i++) {
        holds[i] =
            hold_arm(HOLD_NO_WRITE, memory + extents[i][0] * PAGE, (size_t)extents[i][1] * PAGE, (uint64_t)i + 1);
        armed[i] = true;
    }
    for (int left = HOLDS; left > 0; left--) {
        int chosen = (int)(seed % HOLDS);
        while (!armed[chosen])
            chosen = (chosen + 1) % HOLDS;
        seed = seed * 1103515245 + 12345;
        protect_hold_release(holds[chosen]);
        armed[chosen] = false;
        for (int page = 0; page < PAGES; page++)
            expect_page(armed, page);
    }
}

/* Both a writer that waited before the first release and one that comes after it. */
static void writer_waits_for_last(void)
{
    struct toucher toucher;
    struct toucher later;
    struct hold *first = hold_arm(HOLD_NO_WRITE, memory, 10 * PAGE, 1);
    struct hold *second = hold_arm(HOLD_NO_WRITE, memory + 5 * PAGE, 10 * PAGE, 2);
    toucher_start(&toucher, memory + 7 * PAGE, true, 'w');
    sleep_ms(20);
    protect_hold_release(first);
    toucher_start(&later, memory + 8 * PAGE, true, 'w');
    sleep_ms(20);
    check(!atomic_load(&toucher.is_through), "a writer waits for the second send too");
    check(!atomic_load(&later.is_through), "also one that comes after the first has ended");
    protect_hold_release(second);
    toucher_join(&later);
    toucher_join(&toucher);
    check(memory[7 * PAGE] == 'w', "the write happens after the last release");
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    memory = memory_map(PAGES * PAGE);
    memset(memory, 'o', PAGES * PAGE / 2); /* the other half has no pages yet */
    for (unsigned seed = 0; seed < ORDERS; seed++)
        release_in_order(seed * 7919);
    writer_waits_for_last();
    return 0;
}
