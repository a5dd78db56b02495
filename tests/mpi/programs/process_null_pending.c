/* SPDX-License-Identifier: MIT */
/* Claim: a receive from MPI_PROC_NULL gives the empty status, also while another message is pending.
 * defers: receive
 *
 * MPICH's nonblocking receives from nobody leave source and tag 0; its blocking ones do not. */
#include "check.h"

static void status_check(const MPI_Status *status)
{
    check(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG, "the empty status");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES), *other = check_buffer_new(100);
    MPI_Status status;
    if (check_rank() == 1) {
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 3);
        return check_end();
    }
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 3);
    MPI_Recv(other, 100, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    status_check(&status);
    MPI_Sendrecv(other, 10, MPI_BYTE, MPI_PROC_NULL, 0, other + 50, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 &status);
    status_check(&status);
    MPI_Sendrecv_replace(other, 10, MPI_BYTE, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    status_check(&status);
    return check_end();
}
