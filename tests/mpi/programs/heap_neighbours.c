/* SPDX-License-Identifier: MIT */
/* Claim: small buffers on the heap, between blocks that the program goes on using, stay right.
 * quick: openmpi4 mpich4 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 64, LENGTH = 3000 };
    unsigned char *blocks[COUNT];
    for (int i = 0; i < COUNT; i++)
        blocks[i] = check_buffer_new(LENGTH);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < COUNT; i += 2) { /* even blocks are messages, odd ones belong to the program */
            check_fill(blocks[i], LENGTH, turn + i);
            if (check_rank() == 0)
                check_send(blocks[i], LENGTH, 1, i);
            else
                check_recv(blocks[i], LENGTH, 0, i);
            check_fill(blocks[i + 1], LENGTH, turn + i + 1);
        }
        for (int i = 0; i < COUNT; i++)
            check(check_is_filled(blocks[i], LENGTH, turn + i), "block i");
        free(blocks[turn]);
        blocks[turn] = check_buffer_new(LENGTH);
    }
    return check_end();
}
