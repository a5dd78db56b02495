/* SPDX-License-Identifier: MIT */
/* Claim: a program that has freed the request of a send may write its buffer once its receiver has answered, also where
 * the message is above the threshold of blocking messages, and below that of nonblocking ones.
 * environment: LAPWING_MATCH=off LAPWING_THRESHOLD=65536 LAPWING_PROGRESS_THRESHOLD=16777216
 * quick: openmpi4 mpich4
 * defers: receive */
#include "check.h"

enum { ROUNDS = 5 };

static void send_freed(unsigned char *buffer, unsigned round)
{
    MPI_Request request;
    check_fill(buffer, CHECK_LARGE_BYTES, round);
    check_delay(); /* the receive may have returned */
    MPI_Isend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    check_recv(&(char){0}, 1, 1, 1);
    memset(buffer, 0xAA, CHECK_LARGE_BYTES);
}

static void receive(unsigned char *buffer, unsigned round)
{
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
    check_send(&(char){0}, 1, 0, 1);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message as it was sent");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        if (check_rank() == 0)
            send_freed(buffer, round);
        else
            receive(buffer, round);
    }
    return check_end();
}
