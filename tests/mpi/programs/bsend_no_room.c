/* SPDX-License-Identifier: MIT */
/* Claim: a large MPI_Bsend that finds no room in the attached buffer is the error that it is with stock MPI, and starts
 * no engine.
 * passes: no_buffer
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROOM = LENGTH / 2 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int length;
    unsigned char *attached = check_buffer_new(ROOM), *buffer = check_buffer_new(LENGTH);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(attached, ROOM);
    int result = MPI_Bsend(buffer, LENGTH, MPI_BYTE, 1 - check_rank(), 0, MPI_COMM_WORLD);
    check(check_class(result) == MPI_ERR_BUFFER, "there is no room");
    check(!check_has_thread("lapwing"), "no engine");
    MPI_Buffer_detach(&attached, &length);
    return check_end();
}
