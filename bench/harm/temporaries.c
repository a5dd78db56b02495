/* SPDX-License-Identifier: MIT */
/* A block of 1 MiB is made, used and freed, again and again: temporaries [STEPS]. */
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 1 << 20 };

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 20000;
    long sum = 0;
    for (long i = 0; i < steps; i++) {
        volatile char *block = malloc(LENGTH);
        memset((char *)block, (int)i, LENGTH);
        sum += block[i % LENGTH];
        free((char *)block);
    }
    return sum == -1;
}
