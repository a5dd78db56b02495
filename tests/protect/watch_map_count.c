/* SPDX-License-Identifier: MIT */
/* Claim: a touch beside watched bytes, on their first page, by a program that has used up its mappings
 * (vm.max_map_count), goes on: no mapping is left to open that page alone. */
#include "base/pages.h"
#include "map_count.h"
#include "protect/watch.h"

enum { WATCHED_PAGES = 4, OFFSET = 100 };

static void note(int watch, uintptr_t address, const struct context_place *place)
{
    (void)watch, (void)place;
    touched_note(TEST_OP, address);
}

/* Opened pages cannot merge with what lies beside them. */
static char *memory_between_others(void)
{
    char *others = mmap(NULL, (WATCHED_PAGES + 2) * PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *memory = mmap(others + PAGE, WATCHED_PAGES * PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    check(others != MAP_FAILED && memory != MAP_FAILED, "mmap");
    return memory;
}

int main(int argument_count, char **arguments)
{
    size_t pages = space_pages();
    backend_start(argument_count, arguments);
    watch_report_to(note);
    char *space = space_map(pages);
    char *memory = memory_between_others();
    struct range bytes = base_range_of(memory + OFFSET, (WATCHED_PAGES - 1) * PAGE);
    struct watch_part part = {bytes, base_pages_of(bytes), true};
    int taken = watch_take();
    memset(memory, 'o', WATCHED_PAGES * PAGE);
    check(watch_arm(taken, &part, 1), "a watch can be armed");
    mappings_use_up(space, pages);
    *(volatile char *)memory = 'n';
    check(*(volatile char *)memory == 'n' && memory[OFFSET] == 'o', "the memory can be used");
    bool is_touched;
    check(watch_claim(taken, &is_touched), "the watch can be claimed");
    return 0;
}
