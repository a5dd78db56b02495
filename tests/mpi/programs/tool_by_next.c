/* SPDX-License-Identifier: MIT */
/* Claim: a tool that is preloaded behind Lapwing, and goes on to what comes next by name without PMPI, counts each
 * large message of the program.
 * plugin: yes
 * flags: -ldl
 * defers: nothing
 * passes: bypass
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"
#include "preload_plugin.h"

#ifdef PLUGIN
int tool_count;

static void *next_named(const char *name)
{
    tool_count++;
    return dlsym(RTLD_NEXT, name);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm)
{
    int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = next_named("MPI_Send");
    return next(buffer, count, datatype, peer, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, MPI_Status *status)
{
    int (*next)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) = next_named("MPI_Recv");
    return next(buffer, count, datatype, peer, tag, comm, status);
}
#else
enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

int main(int argc, char **argv)
{
    preload_plugin(argv);
    check_start(&argc, &argv);
    const int *count = dlsym(RTLD_DEFAULT, "tool_count");
    unsigned char *buffer = check_buffer_new(LENGTH);
    check(count != NULL, "the tool is there");
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        check_exchange_late(buffer, LENGTH, seed, 0);
    check(*count == ROUNDS, "it has counted each message");
    return check_end();
}
#endif
