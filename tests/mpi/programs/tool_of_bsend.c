/* SPDX-License-Identifier: MIT */
/* Claim: a tool behind Lapwing that has but MPI_Bsend counts each of its calls, and none that is not the program's.
 * plugin: yes
 * flags: -ldl
 * defers: nothing
 * passes: bypass
 * quick: openmpi4 mpich4 userfaultfd */
#define _GNU_SOURCE
#include "counting_tool.h"

#ifdef PLUGIN
int MPI_Bsend(const void *buffer, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm)
{
    int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = counting_tool_next("MPI_Bsend");
    return next(buffer, count, datatype, peer, tag, comm);
}
#else
enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 3 };

int main(int argc, char **argv)
{
    enum { ROOM = LENGTH + MPI_BSEND_OVERHEAD };
    const int *count = counting_tool_start(argc, argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    void *room = malloc(ROOM);
    MPI_Buffer_attach(room, ROOM);
    for (int i = 0; i < ROUNDS; i++) {
        if (check_rank() == 1)
            check_recv(buffer, LENGTH, 0, 0);
        else
            MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&room, &(int){0});
    check(*count == (check_rank() == 0 ? ROUNDS : 0), "it has counted each message");
    return check_end();
}
#endif
