/* SPDX-License-Identifier: MIT */
/* Claim: bytes on the first or last page of a receive can be copied while it is held, and only they. */
#include "hold_test.h"
#include "protect/beside.h"

enum { PAGE = 4096, ROW = 3 * PAGE + 100, ROWS = 3, OFFSET = 16, MEMORY = 16 * PAGE };

static char *rows[ROWS];
static char copy[MEMORY];

static void rows_fill(char *memory)
{
    for (int i = 0; i < ROWS; i++) {
        rows[i] = memory + OFFSET + (size_t)i * ROW;
        memset(rows[i], 'a' + i, ROW);
    }
}

static bool is_beside(const char *bytes, size_t length_bytes)
{
    return protect_beside_is(base_range_of(bytes, length_bytes));
}

static bool is_copied(const char *bytes, size_t length_bytes, char value)
{
    memset(copy, 'x', sizeof copy);
    bool is_same = protect_beside_copy(copy, (uintptr_t)bytes, length_bytes);
    for (size_t i = 0; i < length_bytes; i++)
        is_same = is_same && copy[i] == value;
    return is_same && copy[length_bytes] == 'x';
}

static void rows_beside(void)
{
    struct hold *hold = hold_arm(HOLD_NO_ACCESS, rows[1], ROW, TEST_OP);
    bool is_in_place = protect_holds_in_place();
    arrive(protect_hold_transfer_address(hold), 'n', ROW);
    for (int i = 0; i < ROWS && !is_in_place; i++)
        check(is_beside(rows[i], ROW) == (i != 1), "the rows above and below are beside it, and not it itself");
    if (!is_in_place) {
        check(is_copied(rows[0], ROW, 'a'), "the row above, which ends on its first page");
        check(is_copied(rows[2], ROW, 'c'), "the row below, which begins on its last page");
        check(is_copied(rows[0] + ROW - 8, 8, 'a'), "a few bytes of its first page");
        check(is_copied(rows[2], 8, 'c'), "a few bytes of its last page");
        check(!protect_beside_copy(copy, (uintptr_t)rows[0], ROW + 1), "not with a byte that is being received");
    }
    protect_hold_release(hold);
    check(!is_beside(rows[0], ROW), "nothing is beside a receive that is over");
    check(is_copied(rows[0], ROW, 'a') && is_copied(rows[1], ROW, 'n'), "then all can be copied");
}

static void row_of_a_send(void)
{
    struct hold *hold = hold_arm(HOLD_NO_WRITE, rows[1], ROW, TEST_OP);
    check(!is_beside(rows[0], ROW), "what is sent can be read where it is");
    protect_hold_release(hold);
}

int main(int argument_count, char **arguments)
{
    backend_start(argument_count, arguments);
    rows_fill(memory_map(MEMORY));
    rows_beside();
    row_of_a_send();
    return 0;
}
