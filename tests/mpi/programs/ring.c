/* SPDX-License-Identifier: MIT */
/* Claim: a ring of blocking exchanges passes every rank's data around.
 * ranks: 3 4
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int rank = check_rank(), size = check_size();
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    check_fill(out, CHECK_LARGE_BYTES, rank);
    for (int step = 1; step <= size; step++) {
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, (rank + 1) % size, 0, in, CHECK_LARGE_BYTES, MPI_BYTE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in[step] == check_byte(step, (rank + size - step) % size), "the data of `step` ranks ago");
        unsigned char *swap = in;
        in = out;
        out = swap;
    }
    check(check_is_filled(out, CHECK_LARGE_BYTES, rank), "the own data came home");
    return check_end();
}
