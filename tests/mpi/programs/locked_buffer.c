/* SPDX-License-Identifier: MIT */
/* Claim: memory that the program has locked, as for a device, stays where it is while it is received into; its
 * neighbours, and what has been unlocked, are received early.
 * defers: receive
 * passes: memory_locked
 * quick: openmpi4 mpich4 */
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

static void exchange(unsigned char *buffer, unsigned seed)
{
    if (check_rank() == 1) {
        check_send_late(buffer, LENGTH, seed, 0, 0);
        return;
    }
    check_recv(buffer, LENGTH, 1, 0);
    check(check_is_filled(buffer, LENGTH, seed), "the message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *memory = mmap(NULL, 2UL * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(mlock(memory, LENGTH) == 0, "memory can be locked");
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        exchange(memory, seed);
        exchange(memory + LENGTH, seed);
    }
    munlock(memory, LENGTH);
    exchange(memory, ROUNDS);
    return check_end();
}
