/* SPDX-License-Identifier: MIT */
/* Claim: the request of MPI_Buffer_iflush ends once the messages of MPI_Bsend have been received; the call itself does
 * not wait for that.
 * quick: mpich5 mpi5abi */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { LENGTH = CHECK_LARGE_BYTES, ROOM = LENGTH + MPI_BSEND_OVERHEAD };

static void rank_send(unsigned char *buffer)
{
    MPI_Request request;
    check_fill(buffer, LENGTH, 1);
    MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&request);
    check_send(buffer, 1, 1, 1); /* the receiver waits for this */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_send(buffer, 1, 1, 2);
}

static void rank_receive(unsigned char *buffer)
{
    enum { LOOKS = 5 };
    int is_flushed = 0;
    check_recv(buffer, 1, 0, 1);
    for (int i = 0; i < LOOKS; i++) {
        check_delay();
        MPI_Iprobe(0, 2, MPI_COMM_WORLD, &is_flushed, MPI_STATUS_IGNORE);
        check(!is_flushed, "the message was not received yet");
    }
    check_recv(buffer, LENGTH, 0, 0);
    check(check_is_filled(buffer, LENGTH, 1), "the message");
    check_recv(buffer, 1, 0, 2);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH), *attached = check_buffer_new(ROOM);
    int length;
    MPI_Buffer_attach(attached, ROOM);
    if (check_rank() == 0)
        rank_send(buffer);
    else
        rank_receive(buffer);
    MPI_Buffer_detach(&attached, &length);
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has no MPI_Buffer_iflush");
}
#endif
