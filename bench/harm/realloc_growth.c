/* SPDX-License-Identifier: MIT */
/* A block grows to 16 MiB by 64 KiB at a time, as a file of unknown length is read: realloc_growth [STEPS]. */
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 << 10, LENGTH = 16 << 20 };

static long grow(void)
{
    char *block = NULL;
    for (size_t length = PIECE; length <= LENGTH; length += PIECE) {
        block = realloc(block, length);
        memset(block + length - PIECE, 1, PIECE);
    }
    long last = ((volatile char *)block)[LENGTH - 1];
    free(block);
    return last;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 100;
    long sum = 0;
    for (long i = 0; i < steps; i++)
        sum += grow();
    return sum == -1;
}
