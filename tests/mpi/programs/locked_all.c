/* SPDX-License-Identifier: MIT */
/* Claim: what is received while all memory is locked (mlockall) stays where it is; what is received before and after is
 * received early.
 * defers: receive
 * passes: memory_locked
 * quick: openmpi4 mpich4 */
#include <sys/mman.h>

#include "check.h"

static void exchange(unsigned char *buffer, unsigned seed)
{
    if (check_rank() == 1) {
        check_send_late(buffer, CHECK_LARGE_BYTES, seed, 0, 0);
        return;
    }
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, seed), "the message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    exchange(buffer, 1);
    check(mlockall(MCL_CURRENT) == 0, "memory can be locked");
    exchange(buffer, 2);
    munlockall();
    exchange(buffer, 3);
    return check_end();
}
