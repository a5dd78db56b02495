/* SPDX-License-Identifier: MIT */
/* Claim: large-count calls with counts that fit an int do what the others do.
 * defers: send receive */
#include "check.h"

#if MPI_VERSION >= 4
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank(), peer = 1 - rank;
    MPI_Status status;
    MPI_Count count;
    for (int i = 0; i < 5; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + rank);
        if (rank == 0)
            MPI_Send_c(out, CHECK_LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv_c(in, CHECK_LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
        if (rank == 1)
            check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i), "MPI_Recv_c");
        MPI_Sendrecv_c(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1,
                       MPI_COMM_WORLD, &status);
        MPI_Get_count_c(&status, MPI_BYTE, &count);
        check(count == CHECK_LARGE_BYTES, "MPI_Get_count_c");
        check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + peer), "MPI_Sendrecv_c");
        MPI_Sendrecv_replace_c(in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + rank), "MPI_Sendrecv_replace_c");
        if (rank == 0)
            MPI_Ssend_c(out, CHECK_LARGE_BYTES, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        else
            MPI_Recv_c(in, CHECK_LARGE_BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i), "MPI_Ssend_c");
    }
    return check_end();
}
#else
int main(void)
{
    return check_skip("this MPI has no large counts");
}
#endif
