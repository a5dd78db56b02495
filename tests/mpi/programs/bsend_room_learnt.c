/* SPDX-License-Identifier: MIT */
/* Claim: where the engine's help is found not to be worth it, too, a program whose attached buffer has room for one
 * message may take its receiver's answer as proof that there is room for the next one (MPI 4.1, 3.6).
 * environment: LAPWING_LEARN=on LAPWING_PROGRESS=poll
 * quick: openmpi4 mpich4 userfaultfd */
#include "room_play.h"

enum { LENGTH = 1 << 20 };

static void send(unsigned char *buffer, int length)
{
    MPI_Bsend(buffer, length, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    room_play(send, LENGTH, ROOM_PLAY_MAX);
    return check_end();
}
