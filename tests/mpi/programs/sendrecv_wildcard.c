/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv with MPI_ANY_SOURCE and MPI_ANY_TAG reports who sent what, around a ring and to itself.
 * defers: any
 * ranks: 1 3 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int size = check_size(), rank = check_rank(), next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int i = 0; i < 10; i++) {
        MPI_Status status;
        int count, length = CHECK_LARGE_BYTES - 1000 * i;
        check_fill(out, length, 3 * i + rank);
        MPI_Sendrecv(out, length, MPI_BYTE, next, 10 + i, in, CHECK_LARGE_BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        check(status.MPI_SOURCE == last && status.MPI_TAG == 10 + i && count == length, "the status");
        check(check_is_filled(in, length, 3 * i + last), "the message");
        MPI_Barrier(MPI_COMM_WORLD); /* a neighbour could be a round ahead */
    }
    return check_end();
}
