/* SPDX-License-Identifier: MIT */
/* Claim: a program that uses up its mappings (vm.max_map_count) while memory is
 * held gets every byte back, and while it has none left holds are refused. */
#include <errno.h>
#include <sys/syscall.h>

#include "map_count.h"

enum { HOLDS = 24, HOLD_PAGES = 4, OFFSET = 100 };

static const size_t hold_bytes = HOLD_PAGES * PAGE;

static bool is_filled(const char *memory, size_t length_bytes, char value)
{
    for (size_t i = 0; i < length_bytes; i++)
        if (memory[i] != value)
            return false;
    return true;
}

/* Neighbours merge while they are held, so that each release needs mappings. */
static void arm_neighbours(enum hold_kind kind, char *memory, struct hold **holds)
{
    for (int i = 0; i < HOLDS; i++) {
        holds[i] = hold_arm(kind, memory + (size_t)i * hold_bytes, hold_bytes, TEST_OP);
        if (kind == HOLD_NO_ACCESS)
            arrive(protect_hold_transfer_address(holds[i]), 'a' + i, hold_bytes);
    }
}

/* In an order that leaves holes: every second one first. The program takes what
 * a release gives back. */
static void release_neighbours(struct hold **holds, char *space, size_t pages)
{
    for (int i = 1; i < HOLDS; i += 2) {
        protect_hold_release(holds[i]);
        mappings_use_up(space, pages);
    }
    for (int i = 0; i < HOLDS; i += 2)
        protect_hold_release(holds[i]);
}

static void hold_at_the_limit(enum hold_kind kind, size_t pages)
{
    struct hold *holds[HOLDS];
    char *memory = memory_map(HOLDS * hold_bytes);
    memset(memory, 'o', HOLDS * hold_bytes);
    arm_neighbours(kind, memory, holds);
    char *space = space_map(pages);
    mappings_use_up(space, pages);
    release_neighbours(holds, space, pages);
    munmap(space, pages * PAGE);
    for (int i = 0; i < HOLDS; i++)
        check(is_filled(memory + (size_t)i * hold_bytes, hold_bytes, kind == HOLD_NO_ACCESS ? (char)('a' + i) : 'o'),
              "the bytes are back");
    memset(memory, 'n', HOLDS * hold_bytes);
    munmap(memory, HOLDS * hold_bytes);
}

static void refuse_at_the_limit(enum hold_kind kind, size_t pages)
{
    struct hold *hold = NULL;
    char *memory = memory_map(HOLDS * hold_bytes);
    memset(memory, 'o', HOLDS * hold_bytes);
    char *space = space_map(pages);
    mappings_use_up(space, pages);
    struct range bytes = base_range_of(memory + PAGE + OFFSET, hold_bytes);
    for (int i = 0; i < 100 && protect_hold_arm(kind, bytes, TEST_OP, &hold) == REASON_NONE; i++)
        protect_hold_release(hold);
    mappings_use_up(space, pages);
    check(protect_hold_arm(kind, bytes, TEST_OP, &hold) == REASON_MEMORY_FAILED,
          "a hold without a way back is refused");
    check(is_filled(memory, HOLDS * hold_bytes, 'o'), "the memory is as it was");
    memset(memory, 'n', HOLDS * hold_bytes);
    munmap(space, pages * PAGE);
    protect_hold_release(hold_arm(kind, memory + PAGE, hold_bytes, TEST_OP));
    munmap(memory, HOLDS * hold_bytes);
}

int main(int argument_count, char **arguments)
{
    size_t pages = space_pages();
    backend_start(argument_count, arguments);
    hold_at_the_limit(HOLD_NO_ACCESS, pages);
    hold_at_the_limit(HOLD_NO_WRITE, pages);
    refuse_at_the_limit(HOLD_NO_ACCESS, pages);
    refuse_at_the_limit(HOLD_NO_WRITE, pages);
    return 0;
}
