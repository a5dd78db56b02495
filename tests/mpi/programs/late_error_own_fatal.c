/* SPDX-License-Identifier: MIT */
/* Claim: a truncated receive on a communicator with MPI_ERRORS_ARE_FATAL ends the job, though MPI_COMM_WORLD's handler
 * returns.
 * exit: nonzero */
#include "check.h"

int main(int argc, char **argv)
{
    enum { SENT = 1 << 20 };
    MPI_Comm comm;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(SENT);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL); /* without one, MPICH goes by MPI_COMM_WORLD's */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    if (check_rank() == 1) {
        check_delay();
        MPI_Send(buffer, SENT, MPI_BYTE, 0, 5, comm);
    } else {
        MPI_Recv(buffer, SENT / 2, MPI_BYTE, 1, 5, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
