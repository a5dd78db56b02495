/* SPDX-License-Identifier: MIT */
/* Claim: odd offsets and lengths leave every neighbouring byte alone, before and after.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include "check.h"

enum { ROOM = 1 << 20 };

static unsigned char *room;

static void unaligned_exchange(size_t offset, size_t length, unsigned seed)
{
    if (!room)
        room = aligned_alloc(4096, ROOM);
    memset(room, 0xEE, ROOM);
    if (check_rank() == 0) {
        check_delay(); /* the receive comes first */
        check_fill(room + offset, length, seed);
        check_send(room + offset, length, 1, 0);
        room[offset + length] = 0x11; /* a neighbour's page may be held: waits, then changes */
        return;
    }
    check_recv(room + offset, length, 0, 0);
    for (size_t i = 0; i < offset; i++)
        check(room[i] == 0xEE, "bytes before the buffer");
    check(check_is_filled(room + offset, length, seed), "the message");
    for (size_t i = offset + length; i < ROOM; i++)
        check(room[i] == 0xEE, "bytes after the buffer");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    static const size_t offsets[] = {0, 1, 7, 4095, 4096, 4097, 2049};
    static const size_t lengths[] = {8191, 65537, 99991, 131101, 524287};
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 5; j++)
            unaligned_exchange(offsets[i], lengths[j], i * 16 + j);
    }
    return check_end();
}
