/* SPDX-License-Identifier: MIT */
/* Claim: a probed message is the one received, with its true size, in all probe forms. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 300000 };
    unsigned char *buffer = check_buffer_new(LENGTH + 10), *held = check_buffer_new(LENGTH);
    for (int i = 0; check_rank() == 1 && i < 3; i++) {
        check_send(held, LENGTH, 0, 50);
        check_fill(buffer, LENGTH + i, i);
        check_send(buffer, LENGTH + i, 0, i);
    }
    for (int i = 0; check_rank() == 0 && i < 3; i++) {
        MPI_Status status;
        MPI_Message message;
        int count = -1, is_there = 0;
        check_recv(held, LENGTH, MPI_ANY_SOURCE, 50); /* must not take the other message */
        if (i == 0)
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        while (i == 1 && !is_there)
            MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
        if (i == 2)
            MPI_Mprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        check(status.MPI_TAG == i && count == LENGTH + i, "what the probe reports");
        if (i == 2)
            MPI_Mrecv(buffer, count, MPI_BYTE, &message, &status);
        else
            MPI_Recv(buffer, count, MPI_BYTE, 1, i, MPI_COMM_WORLD, &status);
        check(check_is_filled(buffer, count, i), "the probed message");
    }
    return check_end();
}
