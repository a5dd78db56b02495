/* SPDX-License-Identifier: MIT */
/* Claim: of a receive the message is counted, not the room for it: whether it returns early, finds its message there,
 * or is passed for what its buffer is; whether somebody looks at its status or not.
 * defers: receive
 * moves: 3200000
 * quick: openmpi4 mpich4 */
#include "check.h"

enum { LENGTH_BYTES = 100000, ROUNDS = 2 };

static unsigned char *message;

static void receive(void *room, int source, MPI_Status *status)
{
    MPI_Recv(room, CHECK_LARGE_BYTES, MPI_BYTE, source, 0, MPI_COMM_WORLD, status);
    check(check_is_filled(room, LENGTH_BYTES, 5), "the message");
}

/* Rank 1 sends one for each call, which has begun before. */
static void receive_late(unsigned char *room)
{
    unsigned char stack[CHECK_LARGE_BYTES];
    MPI_Status status;
    int length_bytes;
    receive(room, 1, MPI_STATUS_IGNORE);
    receive(room, 1, &status);
    MPI_Get_count(&status, MPI_BYTE, &length_bytes);
    check(length_bytes == LENGTH_BYTES, "its length");
    receive(room, MPI_ANY_SOURCE, &status);
    receive(stack, 1, MPI_STATUS_IGNORE);
    receive(stack, 1, &status);
}

static void send_late(void)
{
    for (int i = 0; i < 5; i++) {
        check_delay();
        check_send(message, LENGTH_BYTES, 0, 0);
    }
}

static void play_receiver(unsigned char *room)
{
    receive_late(room);
    check_delay();
    receive(room, 1, MPI_STATUS_IGNORE);
    MPI_Sendrecv(message, LENGTH_BYTES, MPI_BYTE, 1, 1, room, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(check_is_filled(room, LENGTH_BYTES, 5), "the message of an exchange");
}

static void play_sender(unsigned char *room)
{
    send_late();
    check_send(message, LENGTH_BYTES, 0, 0);
    check_delay();
    check_send(message, LENGTH_BYTES, 0, 1);
    check_recv(room, CHECK_LARGE_BYTES, 0, 1);
    check(check_is_filled(room, LENGTH_BYTES, 5), "the answer");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *room = check_buffer_new(CHECK_LARGE_BYTES);
    message = check_buffer_new(LENGTH_BYTES);
    check_fill(message, LENGTH_BYTES, 5);
    for (int i = 0; i < ROUNDS; i++) {
        if (check_rank() == 0)
            play_receiver(room);
        else
            play_sender(room);
    }
    return check_end();
}
