/* SPDX-License-Identifier: MIT */
/* Claim: once the program has asked for the function that makes memory known to a GPU, as CUDA's runtime does, memory
 * stays where it is, and a message under way has ended before.
 * defers: receive
 * passes: memory_device
 * quick: openmpi4 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/mman.h>

#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 4, ASKED = 2 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        if (check_rank() == 1) {
            check_send_late(buffer, LENGTH, seed, 0, 0);
            continue;
        }
        check_recv(buffer, LENGTH, 1, 0);
        if (seed == ASKED)
            check(dlsym(RTLD_DEFAULT, "cuMemHostRegister_v2") == NULL, "there is no CUDA here");
        check(check_is_filled(buffer, LENGTH, seed), "the message");
    }
    return check_end();
}
