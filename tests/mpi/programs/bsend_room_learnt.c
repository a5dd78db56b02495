/* SPDX-License-Identifier: MIT */
/* Claim: where the engine's help is found not to be worth it, too, a program whose attached buffer has room for one
 * message may take its receiver's answer as proof that there is room for the next one (MPI 4.1, 3.6).
 * environment: LAPWING_LEARN=on LAPWING_PROGRESS=poll
 * quick: openmpi4 mpich4 userfaultfd */
#include "check.h"

enum { ROUNDS = 80, LENGTH = 1 << 20 };

static void rank_send(unsigned char *buffer)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(buffer, LENGTH, round);
        MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        check_recv(&(char){0}, 1, 1, 1);
    }
}

static void rank_receive(unsigned char *buffers[])
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_recv(buffers[round], LENGTH, 0, 0);
        check_send(&(char){0}, 1, 0, 1);
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        check(check_is_filled(buffers[round], LENGTH, round), "the message as it was sent");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int length;
    unsigned char *buffers[ROUNDS], *attached = check_buffer_new(LENGTH + MPI_BSEND_OVERHEAD);
    for (int round = 0; round < ROUNDS; round++)
        buffers[round] = check_buffer_new(LENGTH);
    MPI_Buffer_attach(attached, LENGTH + MPI_BSEND_OVERHEAD);
    if (check_rank() == 0)
        rank_send(buffers[0]);
    else
        rank_receive(buffers);
    MPI_Buffer_detach(&attached, &length);
    return check_end();
}
