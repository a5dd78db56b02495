/* SPDX-License-Identifier: MIT */
/* Claim: what is received while all memory is locked (mlockall) stays where it is; what is received before and after is
 * received early.
 * defers: receive
 * passes: memory_locked
 * quick: openmpi4 mpich4 */
#include <sys/mman.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    check_exchange_late(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(mlockall(MCL_CURRENT) == 0, "memory can be locked");
    check_exchange_late(buffer, CHECK_LARGE_BYTES, 2, 0);
    munlockall();
    check_exchange_late(buffer, CHECK_LARGE_BYTES, 3, 0);
    return check_end();
}
