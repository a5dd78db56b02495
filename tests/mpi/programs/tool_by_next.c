/* SPDX-License-Identifier: MIT */
/* Claim: a tool that is preloaded behind Lapwing, and goes on to what comes next by name without PMPI, counts each
 * large message of the program.
 * plugin: yes
 * flags: -ldl
 * defers: nothing
 * passes: bypass
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include "counting_tool.h"

#ifdef PLUGIN
int MPI_Send(const void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm)
{
    int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = counting_tool_next("MPI_Send");
    return next(buffer, count, datatype, peer, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, MPI_Status *status)
{
    int (*next)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) = counting_tool_next("MPI_Recv");
    return next(buffer, count, datatype, peer, tag, comm, status);
}
#else
enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

int main(int argc, char **argv)
{
    const int *count = counting_tool_start(argc, argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (unsigned seed = 0; seed < ROUNDS; seed++)
        check_exchange_late(buffer, LENGTH, seed, 0);
    check(*count == ROUNDS, "it has counted each message");
    return check_end();
}
#endif
