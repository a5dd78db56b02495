/* SPDX-License-Identifier: MIT */
/* Claim: a program that goes on with windows alone hears of a receive's late error from the next call that ends an
 * epoch, once.
 * defers: receive
 * quick: openmpi4 mpich4 userfaultfd */
#include "check.h"

enum { TOO_LONG = 1 };

static int rank_receive(unsigned char *buffer)
{
    MPI_Status status;
    int count;
    int own = MPI_Recv(buffer, CHECK_LARGE_BYTES / 2, MPI_BYTE, 1, TOO_LONG, MPI_COMM_WORLD, &status);
    buffer[0]++; /* a touch: its error is there before the next call */
    check(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS, "MPI_Get_count");
    return own;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int own = MPI_ERR_TRUNCATE;
    MPI_Win window;
    if (check_rank() == 0) {
        own = rank_receive(buffer);
    } else {
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, TOO_LONG);
    }
    check(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window) == MPI_SUCCESS, "MPI_Win_create_dynamic");
    int late = MPI_Win_fence(0, window);
    check(own != MPI_SUCCESS || late != MPI_SUCCESS, "the truncation is reported");
    check(MPI_Win_fence(0, window) == MPI_SUCCESS, "once");
    MPI_Win_free(&window);
    return check_end();
}
