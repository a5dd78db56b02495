/* SPDX-License-Identifier: MIT */
/* Claim: a program that takes memory up to its limit of data (RLIMIT_DATA, ulimit -d) after a send may write to what it
 * has sent.
 * quick: openmpi4 signal-1 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "data_limit.h"

enum { MIB = 1 << 20, LENGTH = 16 * MIB };

static void *map(void)
{
    return mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *message = check_buffer_new(LENGTH);
    check_fill(message, LENGTH, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        data_limit(64 * MIB);
        check_send(message, LENGTH, 1, 0);
        while (map() != MAP_FAILED)
            ;
        memset(message, 5, LENGTH);
        check(setrlimit(RLIMIT_DATA, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0, "setrlimit()");
    } else {
        check_delay();
        check_recv(message, LENGTH, 0, 0);
        check(check_is_filled(message, LENGTH, 1), "the message");
    }
    return check_end();
}
