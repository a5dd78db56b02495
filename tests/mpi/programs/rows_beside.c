/* SPDX-License-Identifier: MIT */
/* Claim: rows of an array that lie on the page of a row that is still being received can be sent at once, and written
 * again at once; every row has its own data in the end.
 * defers: send receive
 * copies: touched
 * quick: openmpi4 mpich4 */
#include "check.h"

enum { ROWS = 3, PADDING = 16, ROOM = ROWS * CHECK_LARGE_BYTES + 8192, ROUNDS = 3, OWN = 7 };

static unsigned char *rows[ROWS];

static void rows_lay(unsigned char *room, size_t row_bytes)
{
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = room + PADDING + i * row_bytes;
}

static void rows_play(size_t row_bytes, unsigned seed)
{
    unsigned above = seed + 1;
    unsigned below = seed + 2;
    check_fill(rows[0], row_bytes, above);
    check_fill(rows[2], row_bytes, below);
    check_recv(rows[1], row_bytes, 1, 0);
    check_send(rows[0], row_bytes, 1, 1);
    check_send(rows[2], row_bytes, 1, 2);
    rows[2][row_bytes - 1] ^= OWN;
    rows[0][0] ^= OWN;
    check(check_is_filled(rows[1], row_bytes, seed), "the row that was received");
    rows[2][row_bytes - 1] ^= OWN;
    rows[0][0] ^= OWN;
    check(check_is_filled(rows[0], row_bytes, above), "the row above is as it was");
    check(check_is_filled(rows[2], row_bytes, below), "the row below is as it was");
}

static void rows_answer(size_t row_bytes, unsigned seed)
{
    check_fill(rows[1], row_bytes, seed);
    check_delay(); /* the receive comes first, and is under way while the rows beside it are sent */
    check_send(rows[1], row_bytes, 0, 0);
    check_recv(rows[0], row_bytes, 0, 1);
    check_recv(rows[2], row_bytes, 0, 2);
    check(check_is_filled(rows[0], row_bytes, seed + 1), "what was sent of the row above");
    check(check_is_filled(rows[2], row_bytes, seed + 2), "what was sent of the row below");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    static const size_t rows_bytes[] = {CHECK_LARGE_BYTES, CHECK_LARGE_BYTES - 24, 100001, 5000, 100};
    unsigned char *room = check_buffer_new(ROOM);
    for (unsigned i = 0; i < ROUNDS * sizeof rows_bytes / sizeof *rows_bytes; i++) {
        size_t row_bytes = rows_bytes[i / ROUNDS];
        rows_lay(room, row_bytes);
        if (check_rank() == 0)
            rows_play(row_bytes, 16 * i);
        else
            rows_answer(row_bytes, 16 * i);
    }
    return check_end();
}
