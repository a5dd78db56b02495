/* SPDX-License-Identifier: MIT */
/* Claim: where a limit on address space leaves no room for a hold, or none for the stack beside it, it is refused,
 * and the memory is as it was; a hold that is armed ends under any limit, and is parted where room was taken before. */
#include <errno.h>
#include <sys/resource.h>

#include "base/pages.h"
#include "base/room.h"
#include "hold_test.h"

enum { BYTES = 64 << 20 };

static void limit_set(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    check(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
}

static void refuse(char *memory)
{
    struct hold *hold = NULL;
    limit_set(1);
    enum reason reason = protect_hold_arm(HOLD_NO_ACCESS, base_range_of(memory + 100, BYTES - 200), TEST_OP, &hold);
    limit_set(RLIM_INFINITY);
    if (protect_holds_in_place()) {
        check(reason == REASON_NONE, "what stays where it is takes no room");
        protect_hold_release(hold);
        return;
    }
    check(reason == REASON_MEMORY_LIMITED && !protect_armed_is_any(), "no room: no hold");
    limit_set(1);
    void *room = protect_hold_room_take(base_pages_of(base_range_of(memory + 100, BYTES - 200)));
    limit_set(RLIM_INFINITY);
    check(room == NULL, "no room for a copy");
    for (size_t i = 0; i < BYTES; i += 1000)
        check(memory[i] == 'o', "the memory is as it was");
}

static void end(enum hold_kind kind, char *memory)
{
    struct hold *hold = hold_arm(kind, memory + 100, BYTES - 200, TEST_OP);
    limit_set(1);
    if (kind == HOLD_NO_ACCESS)
        arrive(protect_hold_transfer_address(hold), 'n', BYTES - 200);
    protect_hold_release(hold);
    limit_set(RLIM_INFINITY);
    check(memory[BYTES / 2] == (kind == HOLD_NO_ACCESS ? 'n' : 'o') && memory[99] == 'o', "a hold ends under a limit");
    memset(memory, 'o', BYTES);
}

static void part(char *memory)
{
    struct range bytes = base_range_of(memory + 100, BYTES - 200);
    void *room = protect_hold_room_take(base_pages_of(bytes));
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, memory + 100, BYTES - 200, TEST_OP);
    char *transit = protect_hold_transfer_address(hold);
    limit_set(1);
    check(protect_hold_part(hold, room), "a hold is parted under a limit");
    check(memory[BYTES / 2] == 'o', "the memory is as it was");
    memset(transit, 'n', BYTES - 200);
    protect_hold_join(bytes);
    limit_set(RLIM_INFINITY);
    check(memory[BYTES / 2] == 'n' && memory[99] == 'o', "the message is there");
    memset(memory, 'o', BYTES);
}

static size_t used_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    check(file != NULL && fscanf(file, "%zu", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return pages * base_page_bytes();
}

/* Is it held when so much more than its own room is left? */
static enum reason arm_beside(enum hold_kind kind, char *memory, size_t left_bytes)
{
    struct hold *hold = NULL;
    limit_set(used_bytes() + BYTES + left_bytes);
    enum reason reason = protect_hold_arm(kind, base_range_of(memory, BYTES), TEST_OP, &hold);
    if (reason == REASON_NONE)
        protect_hold_release(hold);
    limit_set(RLIM_INFINITY);
    return reason;
}

static void stack_set(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = bytes;
    check(setrlimit(RLIMIT_STACK, &limit) == 0, "RLIMIT_STACK");
}

static void leave_stack(char *memory)
{
    enum { STACK_BYTES = 8 << 20, MORE_BYTES = 4 << 20 };
    enum reason refused = protect_holds_in_place() ? REASON_NONE : REASON_MEMORY_LIMITED;
    struct rlimit before;
    getrlimit(RLIMIT_STACK, &before);
    stack_set(STACK_BYTES);
    size_t enough_bytes = BASE_ROOM_TO_HOLD_BYTES + STACK_BYTES + MORE_BYTES;
    check(arm_beside(HOLD_NO_ACCESS, memory, BASE_ROOM_TO_HOLD_BYTES) == refused, "the stack cannot grow: no hold");
    check(arm_beside(HOLD_NO_ACCESS, memory, enough_bytes) == REASON_NONE, "the stack can grow");
    check(arm_beside(HOLD_NO_WRITE, memory, 0) == REASON_NONE, "what stays takes no room");
    if (before.rlim_max == RLIM_INFINITY) {
        stack_set(RLIM_INFINITY);
        check(arm_beside(HOLD_NO_ACCESS, memory, (size_t)1 << 40) == refused, "nobody knows how far the stack grows");
    }
    stack_set(before.rlim_cur);
}

/* What the kernel does not count as data while it is closed may not come back: not even small. */
static void refuse_uncounted(char *memory)
{
    enum reason refused = protect_sets_rights() ? REASON_MEMORY_LIMITED : REASON_NONE;
    struct rlimit before, limit;
    getrlimit(RLIMIT_DATA, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)1 << 40;
    check(setrlimit(RLIMIT_DATA, &limit) == 0, "RLIMIT_DATA");
    check(protect_memory_check_to_hold(base_range_of(memory, 1)) == refused, "rights may not come back: no hold");
    enum reason of_stack = protect_memory_check_to_hold(base_range_of(&limit, sizeof limit));
    check(of_stack == REASON_MEMORY_STACK, "a send from a stack may still go from a copy");
    setrlimit(RLIMIT_DATA, &before);
    check(protect_memory_check_to_hold(base_range_of(memory, 1)) == REASON_NONE, "no limit");
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    char *memory = memory_map(BYTES);
    memset(memory, 'o', BYTES);
    refuse(memory);
    end(HOLD_NO_ACCESS, memory);
    end(HOLD_NO_WRITE, memory);
    part(memory);
    refuse(memory);
    leave_stack(memory);
    refuse_uncounted(memory);
    return 0;
}
