/* SPDX-License-Identifier: MIT */
/* Claim: after MPI_Pcontrol(0) calls are passed and nonblocking operations left to MPI, whatever stands behind the
 * level.
 * defers: nothing
 * passes: paused
 * quick: openmpi4 mpich4 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Request request;
    int peer = 1 - check_rank();
    unsigned char *sent = check_buffer_new(CHECK_LARGE_BYTES), *received = check_buffer_new(CHECK_LARGE_BYTES);
    check(MPI_Pcontrol(0, "a name", 3, 2.5) == MPI_SUCCESS, "any arguments");
    for (unsigned i = 0; i < 4; i++) {
        check_fill(sent, CHECK_LARGE_BYTES, 2 * i + check_rank());
        MPI_Irecv(received, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        check_send(sent, CHECK_LARGE_BYTES, peer, 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(check_is_filled(received, CHECK_LARGE_BYTES, 2 * i + peer), "the peer's message");
        MPI_Pcontrol(7); /* no level of ours */
    }
    return check_end();
}
