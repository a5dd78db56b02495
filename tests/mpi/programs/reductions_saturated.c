/* SPDX-License-Identifier: MIT */
/* Claim: sums of integers of one or two bytes are left to MPI's own blocking calls. Open MPI adds them by vector
 * instructions that stop at the largest number, and what is left over by ones that wrap: where sums overflow their bits
 * depend on where it cuts, and its nonblocking calls cut elsewhere.
 * defers: nothing
 * ranks: 2 3 */
#include "check.h"

enum { COUNT = 100003, TYPES = 4, BYTES = 2 * COUNT };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const MPI_Datatype types[TYPES] = {MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT};
    const MPI_Comm comm = MPI_COMM_WORLD;
    unsigned char *sent = check_buffer_new(BYTES);
    unsigned char *received = check_buffer_new(BYTES);
    check_fill(sent, BYTES, (unsigned)check_rank());
    for (int i = 0; i < TYPES; i++) {
        MPI_Allreduce(sent, received, COUNT, types[i], MPI_SUM, comm);
        MPI_Reduce(sent, received, COUNT, types[i], MPI_SUM, 0, comm);
        MPI_Scan(sent, received, COUNT, types[i], MPI_SUM, comm);
        MPI_Exscan(sent, received, COUNT, types[i], MPI_SUM, comm);
        MPI_Reduce_scatter_block(sent, received, COUNT / check_size(), types[i], MPI_SUM, comm);
    }
    return check_end();
}
