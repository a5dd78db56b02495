/* SPDX-License-Identifier: MIT */
/* Claim: memory may be freed, grown or unmapped right after its send or receive returned.
 * defers: send receive
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "check.h"

static unsigned char *freed_map(size_t length)
{
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Gets rid of the buffer in way `way`; what a receiver can still see must be the message. */
static void freed_dispose(unsigned char *buffer, int way, unsigned seed)
{
    unsigned char *moved;
    switch (way) {
    case 0:
        free(buffer);
        return;
    case 1:
        moved = realloc(buffer, 8 * CHECK_LARGE_BYTES);
        check(check_is_filled(moved, CHECK_LARGE_BYTES, seed), "realloc() kept the message");
        free(moved);
        return;
    case 2:
        munmap(buffer, CHECK_LARGE_BYTES);
        return;
    default:
        moved = mremap(buffer, CHECK_LARGE_BYTES, 4 * CHECK_LARGE_BYTES, MREMAP_MAYMOVE);
        check(check_is_filled(moved, CHECK_LARGE_BYTES, seed), "mremap() kept the message");
        munmap(moved, 4 * CHECK_LARGE_BYTES);
    }
}

/* The next owner of the memory must not lose its data to a late message. */
static void freed_reuse(void)
{
    unsigned char *next = malloc(CHECK_LARGE_BYTES), *mapped = freed_map(CHECK_LARGE_BYTES);
    check_fill(next, CHECK_LARGE_BYTES, 77);
    check_fill(mapped, CHECK_LARGE_BYTES, 78);
    check_delay();
    check_delay();
    check(check_is_filled(next, CHECK_LARGE_BYTES, 77), "malloc'd memory of the next owner");
    check(check_is_filled(mapped, CHECK_LARGE_BYTES, 78), "mapped memory of the next owner");
    free(next);
    munmap(mapped, CHECK_LARGE_BYTES);
}

static void freed_exchange(int way, bool is_early_sender)
{
    unsigned char *buffer = way < 2 ? check_buffer_new(CHECK_LARGE_BYTES) : freed_map(CHECK_LARGE_BYTES);
    memset(buffer, 0xEE, CHECK_LARGE_BYTES);
    if (is_early_sender == (check_rank() == 1))
        check_delay();
    if (check_rank() == 0) {
        check_fill(buffer, CHECK_LARGE_BYTES, way);
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
    }
    freed_dispose(buffer, way, way);
    freed_reuse();
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        freed_exchange(i, true);
        freed_exchange(i, false);
    }
    return check_end();
}
