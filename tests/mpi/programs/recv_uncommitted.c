/* SPDX-License-Identifier: MIT */
/* Claim: a receive from anybody, of a type that is not committed, fails and leaves the message to the next one.
 * defers: send
 * timeout: 20
 * quick: openmpi4 mpich4 userfaultfd */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Status status;
    int count = 0;
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(CHECK_LARGE_BYTES, MPI_BYTE, &type);
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 7);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
    } else if (check_rank() == 0) {
        check_delay();
        int error = MPI_Recv(buffer, 1, type, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        check(check_class(error) == MPI_ERR_TYPE, "the type is the error");
        MPI_Type_commit(&type);
        error = MPI_Recv(buffer, 1, type, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, type, &count);
        check(error == MPI_SUCCESS && status.MPI_SOURCE == 1 && count == 1, "the next receive has the message");
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 7), "its data");
    }
    MPI_Type_free(&type);
    return check_end();
}
