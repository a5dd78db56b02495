/* SPDX-License-Identifier: MIT */
/* Claim: a rank may pass a message on without looking at it.
 * ranks: 3
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank(), last = check_size() - 1;
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            check_fill(buffer, CHECK_LARGE_BYTES, i);
        if (rank > 0)
            check_recv(buffer, CHECK_LARGE_BYTES, rank - 1, 0);
        if (rank < last)
            check_send(buffer, CHECK_LARGE_BYTES, rank + 1, 0);
        if (rank == last)
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "the message at the end of the chain");
    }
    return check_end();
}
