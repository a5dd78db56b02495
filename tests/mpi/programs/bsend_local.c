/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Bsend waits for no receiver, nor does what follows it before MPI_Buffer_detach.
 * assists: any
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROOM = 2 * (LENGTH + MPI_BSEND_OVERHEAD) };

/* Each of these the receiver needs before it receives. */
static void meet(unsigned char *small)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        MPI_Ssend(small, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    else
        check_recv(small, 1, 0, 2);
    MPI_Allreduce(MPI_IN_PLACE, small, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void send(unsigned char *buffer, unsigned char *small)
{
    check_fill(buffer, LENGTH, 1);
    MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    check_fill(buffer, LENGTH, 2);
    MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    memset(buffer, 0xAA, LENGTH);
    meet(small);
}

static void receive(unsigned char *buffer, unsigned char *small)
{
    meet(small);
    check_recv(buffer, LENGTH, 0, 0);
    check(check_is_filled(buffer, LENGTH, 1), "the first message");
    check_recv(buffer, LENGTH, 0, 0);
    check(check_is_filled(buffer, LENGTH, 2), "the second message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *attached = check_buffer_new(ROOM), *buffer = check_buffer_new(LENGTH), small = 0;
    void *detached = NULL;
    int length;
    for (int round = 0; round < 3; round++) {
        MPI_Buffer_attach(attached, ROOM);
        if (check_rank() == 0)
            send(buffer, &small);
        else
            receive(buffer, &small);
        MPI_Buffer_detach(&detached, &length);
        check(detached == attached && length == ROOM, "the buffer is handed back");
    }
    return check_end();
}
