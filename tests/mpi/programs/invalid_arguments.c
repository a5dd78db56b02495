/* SPDX-License-Identifier: MIT */
/* Claim: an argument error is returned by the call that has it, also by a receive from anybody on MPI_COMM_NULL
 * and by MPI_Request_free of no place. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 99, 0, MPI_COMM_WORLD);
    check(check_class(error) == MPI_ERR_RANK, "MPI_Send to a rank that does not exist");
    error = MPI_Recv(buffer, -1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(check_class(error) == MPI_ERR_COUNT, "MPI_Recv of a negative count");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    error = MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_NULL, &status);
    check(check_class(error) == MPI_ERR_COMM, "the communicator is the error");
    check(MPI_Request_free(NULL) != MPI_SUCCESS, "MPI_Request_free of nothing");
    buffer[0] = 1;
    return check_end();
}
