/* SPDX-License-Identifier: MIT */
/* Claim: a preloaded library that defines only what begins and ends MPI, as one that writes a log does, takes nothing
 * from Lapwing, and is called.
 * plugin: yes
 * flags: -ldl
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"
#include "preload_plugin.h"

#ifdef PLUGIN
int tool_count;

int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "MPI_Init");
    tool_count++;
    return next(argc, argv);
}

int MPI_Finalize(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");
    tool_count++;
    return next();
}
#else
enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

int main(int argc, char **argv)
{
    preload_plugin(argv);
    check_start(&argc, &argv);
    const int *count = dlsym(RTLD_DEFAULT, "tool_count");
    unsigned char *buffer = check_buffer_new(LENGTH);
    check(count != NULL && *count == 1, "it has seen MPI_Init");
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        check_exchange_late(buffer, LENGTH, seed, 0);
    return check_end();
}
#endif
