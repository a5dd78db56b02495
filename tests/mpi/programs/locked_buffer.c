/* SPDX-License-Identifier: MIT */
/* Claim: memory that the program has locked, as for a device, stays where it is while it is received into; its
 * neighbours, and what has been unlocked, are received early. It may have been mapped so, too.
 * defers: receive
 * passes: memory_locked
 * arguments: mlock mmap number
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE /* syscall */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };
enum { RIGHTS = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS, FLAGS_LOCKED = FLAGS | MAP_LOCKED };

static bool lock(unsigned char *memory, const char *way)
{
    if (strcmp(way, "mlock") == 0)
        return mlock(memory, LENGTH) == 0;
    if (strcmp(way, "mmap") == 0)
        return mmap(memory, LENGTH, RIGHTS, FLAGS_LOCKED | MAP_FIXED, -1, 0) == memory;
    return syscall(SYS_mmap, memory, LENGTH, RIGHTS, FLAGS_LOCKED | MAP_FIXED, -1, 0L) == (long)memory;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *memory = mmap(NULL, 2UL * LENGTH, RIGHTS, FLAGS, -1, 0);
    check(lock(memory, argv[1]), "memory can be locked");
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        check_exchange_late(memory, LENGTH, seed, 0);
        check_exchange_late(memory + LENGTH, LENGTH, seed, 0);
    }
    munlock(memory, LENGTH);
    check_exchange_late(memory, LENGTH, ROUNDS, 0);
    return check_end();
}
