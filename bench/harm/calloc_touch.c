/* SPDX-License-Identifier: MIT */
/* Blocks of 8 MiB from calloc, of which one page in 64 is used; the others must stay untouched: calloc_touch [STEPS].
 */
#include <stdlib.h>

enum { LENGTH = 8 << 20, STRIDE = 64 * 4096, LARGE = 20 << 20 };

static int use_block(void)
{
    volatile char *block = calloc(1, LENGTH);
    for (size_t i = 0; block && i < LENGTH; i += STRIDE)
        block[i] = 1;
    return block != NULL;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 100;
    void *volatile large = malloc(LARGE);
    free(large); /* from here on the blocks come from the heap: mallopt(3), M_MMAP_THRESHOLD */
    for (long i = 0; i < steps; i++)
        if (!use_block())
            return 1;
    return 0;
}
