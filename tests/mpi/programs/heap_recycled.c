/* SPDX-License-Identifier: MIT */
/* Claim: a program that takes a block of the heap for each message receives early from the second one on, although
 * other blocks lie beside it; and each block can be written to its end, resized and given back.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include <malloc.h>

#include "check.h"

enum { LENGTH = 300001, TURNS = 6 };

static void turn(int i)
{
    unsigned char *before = malloc(1000);
    unsigned char *block = malloc(LENGTH);
    unsigned char *behind = malloc(1000);
    memset(before, 1, 1000);
    memset(behind, 2, 1000);
    check_recv(block, LENGTH, 1, i);
    before[999] = behind[0] = 3; /* the program goes on beside its message */
    check(check_is_filled(block, LENGTH, i), "the message");
    block[LENGTH - 1] = 4;
    check(behind[0] == 3 && behind[1] == 2 && before[998] == 1, "what lies beside it");
    free(i % 2 ? block : realloc(block, 2 * LENGTH));
    free(before);
    free(behind);
}

static void send(int i)
{
    unsigned char *buffer = check_buffer_new(LENGTH);
    check_send_late(buffer, LENGTH, i, 0, i);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* from the heap, or nothing is said about it */
    for (int i = 0; i < TURNS; i++)
        check_rank() == 0 ? turn(i) : send(i);
    return check_end();
}
