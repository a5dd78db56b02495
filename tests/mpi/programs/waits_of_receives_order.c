/* SPDX-License-Identifier: MIT */
/* Claim: whatever a rank does after its wait for a receive from a named rank, others learn of it after what the sender
 * did before.
 * ranks: 3
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1
 * defers: receive */
#include "check.h"

enum { TOKEN = 1, DATA = 2, GO = 3, ROUNDS = 4, LARGE = CHECK_LARGE_BYTES };
enum { RECEIVER, SENDER, WITNESS };

static void receive(unsigned char *buffer, unsigned char *token, unsigned round)
{
    MPI_Request requests[2];
    MPI_Irecv(buffer, LARGE, MPI_BYTE, SENDER, DATA, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(buffer + LARGE, LARGE, MPI_BYTE, SENDER, DATA, MPI_COMM_WORLD, &requests[1]);
    check_send(NULL, 0, SENDER, GO);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    check_fill(token, LARGE, RECEIVER);
    check_send(token, LARGE, WITNESS, TOKEN);
    check(check_is_filled(buffer, LARGE, round), "the first message");
    check(check_is_filled(buffer + LARGE, LARGE, round + 1), "the second message");
}

static void send(unsigned char *buffer, unsigned char *token, unsigned round)
{
    check_recv(NULL, 0, RECEIVER, GO);
    check_fill(token, LARGE, SENDER);
    check_fill(buffer, LARGE, round);
    check_send(buffer, LARGE, RECEIVER, DATA);
    check_delay();
    MPI_Ssend(token, LARGE, MPI_BYTE, WITNESS, TOKEN, MPI_COMM_WORLD);
    check_fill(buffer, LARGE, round + 1);
    check_send(buffer, LARGE, RECEIVER, DATA);
}

static void witness(unsigned char *buffer)
{
    check_recv(buffer, LARGE, MPI_ANY_SOURCE, TOKEN);
    check(check_is_filled(buffer, LARGE, SENDER), "the sender's message comes first");
    check_recv(buffer, LARGE, MPI_ANY_SOURCE, TOKEN);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(2L * LARGE), *token = check_buffer_new(LARGE);
    for (unsigned round = 10; round < 10 + ROUNDS; round++) {
        if (check_rank() == RECEIVER)
            receive(buffer, token, round);
        else if (check_rank() == SENDER)
            send(buffer, token, round);
        else
            witness(buffer);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
