/* SPDX-License-Identifier: MIT */
/* Claim: a program with an allocator of its own linked into it, which lays block behind block, runs as without Lapwing:
 * MPI's own small blocks lie on the message's first and last page.
 * flags: -pthread -fno-builtin
 * passes: memory_neighbours
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include "arena_allocator.h"
#include "check.h"

enum { LENGTH = 300000, REQUESTS = 4 };

/* What MPI allocates in the turn lies behind the message. */
static void turn(int i)
{
    MPI_Request requests[REQUESTS];
    int numbers[REQUESTS];
    MPI_Comm comm;
    int peer = 1 - check_rank();
    unsigned char *message = check_buffer_new(LENGTH + i * 16);
    for (int k = 0; k < REQUESTS; k++)
        MPI_Irecv(&numbers[k], 1, MPI_INT, peer, k, MPI_COMM_WORLD, &requests[k]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check_rank() == 0)
        check_recv(message, LENGTH, 1, REQUESTS);
    else
        check_fill(message, LENGTH, i), check_delay(), check_send(message, LENGTH, 0, REQUESTS);
    for (int k = 0; k < REQUESTS; k++)
        MPI_Send(&k, 1, MPI_INT, peer, k, MPI_COMM_WORLD);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&comm);
    check(check_is_filled(message, LENGTH, i), "the message");
    free(message);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < 20; i++)
        turn(i);
    return check_end();
}
