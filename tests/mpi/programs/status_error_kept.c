/* SPDX-License-Identifier: MIT */
/* Claim: a truncated receive that returns its error at once leaves a status as MPI alone
 * leaves it; and one whose error is late tells the length that MPI received. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { SENT = 600000, ROOM = 300000 };
    unsigned char *buffer = check_buffer_new(SENT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check_rank() == 1) {
        check_delay();
        check_send(buffer, SENT, 0, 4);
        return check_end();
    }
    MPI_Status status;
    int count = -1;
    int error = MPI_Recv(buffer, ROOM, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &status);
    buffer[0]++; /* a touch: the op is over now */
    check(check_class_or_late(error, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE, "the truncation");
    MPI_Get_count(&status, MPI_BYTE, &count);
    printf("source %d tag %d count %d\n", status.MPI_SOURCE, status.MPI_TAG, count);
    return check_end();
}
