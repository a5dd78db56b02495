/* SPDX-License-Identifier: MIT */
/* Claim: what the first rank gives as the receive buffer of MPI_Exscan means nothing (MPI 4.1, 6.11.2): another receive
 * into it goes on meanwhile.
 * defers: collective */
#include "check.h"

enum { COUNT = 1 << 19, ROUNDS = 8, TAG = 3 };

static void fill(int *numbers, int round)
{
    for (int i = 0; i < COUNT; i++)
        numbers[i] = round + i;
}

static bool is_filled(const int *numbers, int round)
{
    for (int i = 0; i < COUNT; i++) {
        if (numbers[i] != round + i)
            return false;
    }
    return true;
}

static void turn(int round, int *sent, int *received)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill(sent, round);
    if (check_rank() == 0)
        MPI_Irecv(received, COUNT, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    else
        check_delay();
    if (check_rank() == 1)
        MPI_Send(sent, COUNT, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    MPI_Exscan(sent, received, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(is_filled(received, round), "the other rank's numbers");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *sent = (int *)(void *)check_buffer_new(COUNT * sizeof(int));
    int *received = (int *)(void *)check_buffer_new(COUNT * sizeof(int));
    for (int round = 0; round < ROUNDS; round++)
        turn(round, sent, received);
    return check_end();
}
