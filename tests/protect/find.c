/* SPDX-License-Identifier: MIT */
/* Claim: the table answers by whole pages, knows readers from writers, and holds
 * PROTECT_HOLDS_MAX holds and not one more. */
#include "hold_test.h"

enum { PAGE = 4096 };

static uint64_t find(char *address, size_t length_bytes, bool allow_read)
{
    return protect_armed_find(base_range_of(address, length_bytes), allow_read);
}

static void check_kinds(char *memory)
{
    struct hold *send = hold_arm(HOLD_NO_WRITE, memory + 4 * PAGE + 100, 2 * PAGE, 11);
    struct hold *receive = hold_arm(HOLD_NO_ACCESS, memory + 10 * PAGE, PAGE, 12);
    check(protect_armed_is_any(), "something is armed");
    check(find(memory, 4 * PAGE, false) == 0, "before the first page");
    check(find(memory, 4 * PAGE + 1, false) == 11, "a byte of the first page, though not of the buffer");
    check(find(memory + 7 * PAGE - 1, 1, false) == 11, "the last byte of the last page");
    check(find(memory + 7 * PAGE, 3 * PAGE, false) == 0, "between two holds");
    check(find(memory + 4 * PAGE, 10, true) == 0, "a send may be read");
    check(find(memory + 4 * PAGE, 10 * PAGE, true) == 12, "a receive may not");
    check(find(memory + 4 * PAGE, 0, false) == 0, "no bytes are never held");
    protect_hold_release(send);
    protect_hold_release(receive);
    check(find(memory, 64 * PAGE, false) == 0 && !protect_armed_is_any(), "nothing is armed any more");
}

static void check_limit(char *memory)
{
    static struct hold *holds[PROTECT_HOLDS_MAX];
    struct hold *more = NULL;
    for (size_t i = 0; i < PROTECT_HOLDS_MAX; i++)
        holds[i] = hold_arm(i % 2 ? HOLD_NO_WRITE : HOLD_NO_ACCESS, memory + 2 * i * PAGE, 1, i + 1);
    enum reason reason = protect_hold_arm(HOLD_NO_WRITE, base_range_of(memory + PAGE, 1), 9999, &more);
    check(reason == REASON_TOO_MANY_OPS, "one more is refused with its reason");
    for (size_t i = 0; i < PROTECT_HOLDS_MAX; i++)
        check(find(memory + 2 * i * PAGE, 1, false) == i + 1, "each is found");
    for (size_t i = 0; i < PROTECT_HOLDS_MAX; i++)
        protect_hold_release(holds[i]);
    memset(memory, 'w', 2 * PROTECT_HOLDS_MAX * PAGE);
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    char *memory = memory_map(2 * PROTECT_HOLDS_MAX * PAGE);
    check_kinds(memory);
    check_limit(memory);
    return 0;
}
