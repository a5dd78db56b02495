/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Sendrecv_replace swaps the same buffer many times, also with a status,
 * with wildcards, and with MPI_PROC_NULL on either side.
 * defers: send receive */
#include "check.h"

static void swap(unsigned char *buffer, int dest, int source, int tag, MPI_Status *status)
{
    MPI_Sendrecv_replace(buffer, CHECK_LARGE_BYTES, MPI_BYTE, dest, 3, source, tag, MPI_COMM_WORLD, status);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank(), peer = 1 - rank;
    check_fill(buffer, CHECK_LARGE_BYTES, rank);
    for (int i = 0; i < 10; i++) {
        MPI_Status status;
        int count;
        swap(buffer, peer, i % 2 ? MPI_ANY_SOURCE : peer, i % 3 ? 3 : MPI_ANY_TAG, &status);
        if (i >= 5) /* else the second swap meets the first one's op */
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, peer), "the buffers were swapped");
        swap(buffer, peer, peer, 3, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, MPI_BYTE, &count);
        check(count == CHECK_LARGE_BYTES && status.MPI_SOURCE == peer && status.MPI_TAG == 3, "the status");
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, rank), "two swaps give the buffer back");
    }
    swap(buffer, rank == 0 ? peer : MPI_PROC_NULL, rank == 0 ? MPI_PROC_NULL : peer, 3, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 0), "sent by the first, received by the second");
    return check_end();
}
