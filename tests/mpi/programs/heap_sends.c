/* SPDX-License-Identifier: MIT */
/* Claim: a send from a block of the heap returns early, whatever lies beside the block on its first and last page, and
 * arrives as it was, while the program writes there and to the message itself.
 * arguments: 70001 300001 3000001
 * defers: send
 * quick: openmpi4 mpich4 */
#include <malloc.h>

#include "check.h"

enum { TURNS = 6, BESIDE = 1000 };

static void turn(size_t length, int i)
{
    unsigned char *before = malloc(BESIDE);
    unsigned char *block = malloc(length);
    unsigned char *behind = malloc(BESIDE);
    check_fill(block, length, i);
    check_send(block, length, 1, i);
    memset(before, i, BESIDE);
    memset(behind, i, BESIDE);
    block[0] = block[length - 1] = 0;
    free(behind);
    free(before);
    free(block);
}

static void receive(size_t length, int i)
{
    unsigned char *buffer = check_buffer_new(length);
    check_recv_late(buffer, length, i, 0, i, "the message as it was sent");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* from the heap, or nothing is said about it */
    for (int i = 0; i < TURNS; i++)
        check_rank() == 0 ? turn(strtoul(argv[1], NULL, 10), i) : receive(strtoul(argv[1], NULL, 10), i);
    return check_end();
}
