/* SPDX-License-Identifier: MIT */
/* Claim: an argument error is returned by the call that has it. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error_class;
    MPI_Error_class(MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 99, 0, MPI_COMM_WORLD), &error_class);
    check(error_class == MPI_ERR_RANK, "MPI_Send to a rank that does not exist");
    MPI_Error_class(MPI_Recv(buffer, -1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &error_class);
    check(error_class == MPI_ERR_COUNT, "MPI_Recv of a negative count");
    buffer[0] = 1;
    return check_end();
}
