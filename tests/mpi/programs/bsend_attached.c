/* SPDX-License-Identifier: MIT */
/* Claim: blocking calls still return early while a buffer for MPI_Bsend is attached,
 * and buffered sends beside them arrive.
 * defers: send receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 300000, ROOM = 4 * (LENGTH + MPI_BSEND_OVERHEAD) };
    unsigned char *attached = check_buffer_new(ROOM), *out = check_buffer_new(LENGTH), *in = check_buffer_new(LENGTH);
    int peer = 1 - check_rank(), length;
    for (unsigned round = 0; round < 6; round++) {
        void *detached = NULL;
        MPI_Buffer_attach(attached, ROOM);
        check_fill(out, LENGTH, 4 * round + check_rank());
        MPI_Bsend(out, LENGTH, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        check_fill(out, LENGTH, 4 * round + 2 + check_rank());
        if (check_rank() == 0) {
            check_delay(); /* the receive is there first */
            check_send(out, LENGTH, peer, 1);
        }
        check_recv(in, LENGTH, peer, 0);
        check(check_is_filled(in, LENGTH, 4 * round + peer), "the buffered message");
        if (check_rank() == 1) {
            check_recv(in, LENGTH, peer, 1);
            check(check_is_filled(in, LENGTH, 4 * round + 2), "the message beside it");
        }
        MPI_Buffer_detach(&detached, &length);
        check(detached == attached && length == ROOM, "the buffer is handed back");
    }
    return check_end();
}
