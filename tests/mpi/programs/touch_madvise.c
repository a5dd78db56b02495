/* SPDX-License-Identifier: MIT */
/* Claim: memory given back with madvise() or replaced with mmap(MAP_FIXED) right after a call stays given back.
 * defers: receive
 * quick: openmpi4 mpich4 */
#include <sys/mman.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = mmap(NULL, CHECK_LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int way = 0; way < 2; way++) {
        memset(buffer, 0xEE, CHECK_LARGE_BYTES);
        if (check_rank() == 1) {
            check_delay();
            check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
            continue;
        }
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        if (way == 0)
            madvise(buffer, CHECK_LARGE_BYTES, MADV_DONTNEED);
        else
            mmap(buffer, CHECK_LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        check_delay();
        check_delay();
        for (size_t i = 0; i < CHECK_LARGE_BYTES; i++)
            check(buffer[i] == 0, "fresh memory reads as zero");
    }
    return check_end();
}
