/* SPDX-License-Identifier: MIT */
/* Claim: a preloaded library that defines only what begins and ends MPI, as one that writes a log does, takes nothing
 * from Lapwing, and is called.
 * plugin: yes
 * flags: -ldl
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include "counting_tool.h"

#ifdef PLUGIN
int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = counting_tool_next("MPI_Init");
    return next(argc, argv);
}

int MPI_Finalize(void)
{
    int (*next)(void) = counting_tool_next("MPI_Finalize");
    return next();
}
#else
enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

int main(int argc, char **argv)
{
    const int *count = counting_tool_start(argc, argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    check(*count == 1, "it has seen MPI_Init");
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        check_exchange_late(buffer, LENGTH, seed, 0);
    return check_end();
}
#endif
