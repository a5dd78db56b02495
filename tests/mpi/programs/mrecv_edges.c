/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Mrecv of an empty message, of one too long, of one from MPI_PROC_NULL
 * and of a matched one that was received by MPI_Imrecv give what MPI says. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 300000 };
    unsigned char *buffer = check_buffer_new(LENGTH);
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int count;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check_rank() == 0) {
        check_fill(buffer, LENGTH, 3);
        check_send(buffer, 0, 1, 0);
        check_send(buffer, LENGTH, 1, 1);
        check_send(buffer, LENGTH, 1, 2);
        return check_end();
    }
    MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(buffer, LENGTH, MPI_BYTE, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == 0 && status.MPI_SOURCE == 0 && buffer[0] == 0xEE, "an empty message");
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    check(message == MPI_MESSAGE_NO_PROC, "nobody's message");
    MPI_Mrecv(buffer, LENGTH, MPI_BYTE, &message, &status);
    check(status.MPI_SOURCE == MPI_PROC_NULL && message == MPI_MESSAGE_NULL, "received from nobody");
    MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status);
    MPI_Imrecv(buffer, LENGTH, MPI_BYTE, &message, &request);
    MPI_Wait(&request, &status);
    check(check_is_filled(buffer, LENGTH, 3), "MPI_Imrecv");
    MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, &status);
    int error = MPI_Mrecv(buffer, LENGTH / 2, MPI_BYTE, &message, &status);
    check(check_class_or_late(error, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE, "a message too long");
    return check_end();
}
