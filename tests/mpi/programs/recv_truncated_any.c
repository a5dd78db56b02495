/* SPDX-License-Identifier: MIT */
/* Claim: a message from anybody that is too long for its buffer is reported as truncated.
 * What lies beyond the buffer is not checked: Open MPI 4.1.4 over shared memory
 * fetches the whole message there, with no help from anybody. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { SENT = 600000, ROOM = 300000 };
    unsigned char *buffer = check_buffer_new(SENT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check_rank() == 1) {
        check_fill(buffer, SENT, 1);
        check_delay();
        check_send(buffer, SENT, 0, 4);
        return check_end();
    }
    int error = MPI_Recv(buffer, ROOM, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    buffer[0]++; /* a touch: the op is over now */
    int rank, error_class = MPI_SUCCESS;
    int late_error = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Error_class(error != MPI_SUCCESS ? error : late_error, &error_class);
    check(error_class == MPI_ERR_TRUNCATE, "the receive, or the next call, reports the truncation");
    return check_end();
}
