/* SPDX-License-Identifier: MIT */
/* Claim: MPI_PROC_NULL moves nothing and gives the empty status, also while another message is pending.
 * defers: receive
 *
 * MPICH's nonblocking receives from nobody leave source and tag 0; its blocking ones do not. */
#include "check.h"

static void status_check(const MPI_Status *status)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    check(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0, "the empty status");
}

static void nothing_move(unsigned char *buffer, int length)
{
    MPI_Status status;
    check_fill(buffer, length, 1);
    check_send(buffer, length, MPI_PROC_NULL, 0);
    MPI_Recv(buffer, length, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    status_check(&status);
    MPI_Sendrecv(buffer, length / 2, MPI_BYTE, MPI_PROC_NULL, 0, buffer + length / 2, length / 2, MPI_BYTE,
                 MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    status_check(&status);
    MPI_Sendrecv_replace(buffer, length, MPI_BYTE, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    status_check(&status);
    check(check_is_filled(buffer, length, 1), "the buffer");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES), *other = check_buffer_new(CHECK_LARGE_BYTES);
    nothing_move(other, CHECK_LARGE_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 1) {
        check_send_late(buffer, CHECK_LARGE_BYTES, 2, 0, 3);
        return check_end();
    }
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 3);
    nothing_move(other, 100);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 2), "the message");
    return check_end();
}
