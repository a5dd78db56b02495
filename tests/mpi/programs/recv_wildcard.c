/* SPDX-License-Identifier: MIT */
/* Claim: MPI_ANY_SOURCE and MPI_ANY_TAG report who sent what.
 * ranks: 3 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 300000 };
    unsigned char *buffer = check_buffer_new(LENGTH);
    if (check_rank() != 0) {
        check_fill(buffer, LENGTH, check_rank());
        check_delay();
        check_send(buffer, LENGTH - check_rank(), 0, 100 + check_rank());
        return check_end();
    }
    int seen = 0;
    for (int i = 1; i < check_size(); i++) {
        MPI_Status status;
        int count;
        MPI_Recv(buffer, LENGTH, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        check(status.MPI_TAG == 100 + status.MPI_SOURCE, "tag and source belong together");
        check(count == LENGTH - status.MPI_SOURCE, "so does the count");
        check(check_is_filled(buffer, count, status.MPI_SOURCE), "so does the data");
        seen |= 1 << status.MPI_SOURCE;
    }
    check(seen == 6, "both peers were heard, once each");
    return check_end();
}
