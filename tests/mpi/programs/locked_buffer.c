/* SPDX-License-Identifier: MIT */
/* Claim: memory that the program has locked, as for a device, stays where it is while it is received into; its
 * neighbours, and what has been unlocked, are received early.
 * defers: receive
 * passes: memory_locked
 * quick: openmpi4 mpich4 */
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *memory = mmap(NULL, 2UL * LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(mlock(memory, LENGTH) == 0, "memory can be locked");
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        check_exchange_late(memory, LENGTH, seed, 0);
        check_exchange_late(memory + LENGTH, LENGTH, seed, 0);
    }
    munlock(memory, LENGTH);
    check_exchange_late(memory, LENGTH, ROUNDS, 0);
    return check_end();
}
