/* SPDX-License-Identifier: MIT */
/* Claim: a program with an allocator of its own linked into it, whose free() Lapwing never sees, may free a buffer
 * right after its send, where MPI gets the memory next.
 * flags: -pthread -fno-builtin
 * quick: openmpi4 mpich4 */
#define _GNU_SOURCE
#include "arena_allocator.h"
#include "check.h"

enum { PAGE = 4096, LENGTH = 4 << 20, REQUESTS = 4000, ROUNDS = 3 };

static void receive_many(void)
{
    static MPI_Request requests[REQUESTS];
    static int numbers[REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
}

static void send_many(void)
{
    for (int i = 0; i < REQUESTS; i++)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

static void turn(int round)
{
    unsigned char *message = aligned_alloc(PAGE, LENGTH);
    check_fill(message, LENGTH, round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        check_send(message, LENGTH, 1, REQUESTS);
        free(message);
        receive_many();
        return;
    }
    memset(message, 0, LENGTH);
    check_delay();
    check_recv(message, LENGTH, 0, REQUESTS);
    check(check_is_filled(message, LENGTH, round), "the message");
    free(message);
    send_many();
}

int main(int argc, char **argv)
{
    arena_gives_again = true;
    check_start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++)
        turn(round);
    return check_end();
}
