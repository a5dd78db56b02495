/* SPDX-License-Identifier: MIT */
/* Claim: a probe after a receive that may still be under way finds the message after
 * it, not the receive's own, whoever sent it.
 * defers: receive
 * environment: LAPWING_MATCH=off
 * ranks: 2 3 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 300000 };
    unsigned char *first = check_buffer_new(LENGTH), *second = check_buffer_new(LENGTH);
    int others = check_size() - 1;
    for (int i = 0; check_rank() != 0 && i < 4; i++) {
        check_send_late(first, LENGTH, 2 * i, 0, 1);
        check_fill(first, LENGTH, 2 * i + 1);
        check_send(first, LENGTH - 100, 0, 1);
    }
    for (int i = 0; check_rank() == 0 && i < 4 * others; i++) {
        MPI_Status status;
        MPI_Message message;
        int count, source = 1 + i % others;
        MPI_Recv(first, LENGTH, MPI_BYTE, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 2 == 0)
            MPI_Probe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        else
            MPI_Mprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        check(count == LENGTH - 100 && status.MPI_SOURCE == source, "the second message");
        if (i % 2 == 0)
            MPI_Recv(second, LENGTH, MPI_BYTE, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Mrecv(second, LENGTH, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        check(check_is_filled(second, LENGTH - 100, 2 * (i / others) + 1), "its bytes");
        check(check_is_filled(first, LENGTH, 2 * (i / others)), "the first's bytes");
    }
    return check_end();
}
