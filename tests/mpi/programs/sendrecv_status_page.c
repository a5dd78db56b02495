/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv whose status lies on a page of its send buffer neither waits for that send nor loses the
 * status, with a named tag and with any.
 * passes: overlapping_buffers */
#include "check.h"

enum { LENGTH = 400000, TAG = 7 };

/* The status right behind the data: no boundary of a page between them. */
static struct {
    _Alignas(1 << 21) unsigned char data[LENGTH];
    MPI_Status status;
} sent;

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *in = check_buffer_new(LENGTH);
    int peer = 1 - check_rank();
    for (unsigned i = 0; i < 10; i++) {
        int count;
        bool is_any = i % 2;
        check_fill(sent.data, LENGTH, 2 * i + check_rank());
        MPI_Sendrecv(sent.data, LENGTH, MPI_BYTE, peer, TAG, in, LENGTH, MPI_BYTE, is_any ? MPI_ANY_SOURCE : peer,
                     is_any ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD, &sent.status);
        MPI_Get_count(&sent.status, MPI_BYTE, &count);
        check(sent.status.MPI_SOURCE == peer && sent.status.MPI_TAG == TAG && count == LENGTH, "the status");
        check(check_is_filled(in, LENGTH, 2 * i + peer), "the peer's data");
        check(check_is_filled(sent.data, LENGTH, 2 * i + check_rank()), "the own data");
    }
    return check_end();
}
