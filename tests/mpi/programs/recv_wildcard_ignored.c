/* SPDX-License-Identifier: MIT */
/* Claim: MPI_ANY_SOURCE with MPI_STATUS_IGNORE takes each message once, in order per sender. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 4, LENGTH = 200000 };
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        check_fill(buffer, LENGTH, i);
        check_send(buffer, LENGTH, 0, 3);
    }
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        check_recv(buffer, LENGTH, MPI_ANY_SOURCE, MPI_ANY_TAG);
        check(check_is_filled(buffer, LENGTH, i), "message i is the i-th sent");
    }
    return check_end();
}
