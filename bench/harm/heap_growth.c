/* SPDX-License-Identifier: MIT */
/* Six large blocks of changing sizes are freed and made again, small ones stay between them: heap_growth [STEPS]. */
#include <stdlib.h>
#include <string.h>

enum { LARGE = 20 << 20, BLOCKS = 6, LENGTH_LEAST = 1 << 20, LENGTH_MORE = 7 << 20, SMALL = 4, STEP_BYTES = 4096 };

static unsigned next_random(void)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return state >> 8 & 0xffffff;
}

static char *make_filled(size_t length)
{
    char *block = malloc(length);
    for (size_t i = 0; i < length; i += STEP_BYTES)
        ((volatile char *)block)[i] = 1;
    return block;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 4000;
    char *blocks[BLOCKS] = {0};
    free(make_filled(
        20 << 20)); /* from here on blocks up to this size come from the heap: mallopt(3), M_MMAP_THRESHOLD */
    for (long i = 0; i < steps; i++) {
        char **block = &blocks[next_random() % BLOCKS];
        free(*block);
        *block = make_filled(LENGTH_LEAST + next_random() % LENGTH_MORE);
        for (int j = 0; j < SMALL; j++)
            make_filled(200 + next_random() % 2000);
    }
    return blocks[0] == blocks[1] && blocks[0];
}
