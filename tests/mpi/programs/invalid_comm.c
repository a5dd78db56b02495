/* SPDX-License-Identifier: MIT */
/* Claim: a receive from anybody on MPI_COMM_NULL returns the error of that receive. */
#include "check.h"

static int class_of(int error)
{
    int class;
    MPI_Error_class(error, &class);
    return class;
}

int main(int argc, char **argv)
{
    MPI_Status status;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int error = MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_NULL, &status);
    check(class_of(error) == MPI_ERR_COMM, "the communicator is the error");
    return check_end();
}
