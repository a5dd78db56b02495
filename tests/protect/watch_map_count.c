/* SPDX-License-Identifier: MIT */
/* Claim: a touch beside watched bytes, on their first page, by a program that has used up its mappings
 * (vm.max_map_count), goes on: no mapping is left to open that page alone. Where the watch has become one mapping with
 * what lies beside it, the process ends instead of faulting for ever. */
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

static int watch(char *memory, size_t length_bytes)
{
    struct range bytes = base_range_of(memory, length_bytes);
    struct watch_part part = {bytes, base_pages_of(bytes), false};
    int taken = watch_take();
    check(watch_arm(taken, &part, 1), "a watch can be armed");
    return taken;
}

static void check_neighbour(char *space, size_t pages)
{
    bool is_touched;
    char *memory = memory_between_others();
    memset(memory, 'o', WATCHED_PAGES * PAGE);
    int taken = watch(memory + OFFSET, (WATCHED_PAGES - 1) * PAGE);
    mappings_use_up(space, pages);
    *(volatile char *)memory = 'n';
    check(*(volatile char *)memory == 'n' && memory[OFFSET] == 'o', "the memory can be used");
    check(watch_claim(taken, &is_touched), "the watch can be claimed");
}

/* Pages that the program may only read, too. */
static void touch_one_mapping(char *space)
{
    char *memory = memory_between_others();
    memset(memory, 'o', WATCHED_PAGES * PAGE);
    check(mprotect(memory + 2 * PAGE, 2 * PAGE, PROT_READ) == 0, "mprotect");
    watch(memory, 2 * PAGE);
    mappings_use_up(space, space_pages());
    *(volatile char *)memory = 'n';
}

int main(int argument_count, char **arguments)
{
    size_t pages = space_pages();
    backend_start(argument_count, arguments);
    watch_report_to(note);
    char *space = space_map(pages);
    check(does_crash(touch_one_mapping, space), "the process ends");
    check_neighbour(space, pages);
    munmap(space, pages * PAGE);
    return 0;
}
