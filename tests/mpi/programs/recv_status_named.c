/* SPDX-License-Identifier: MIT */
/* Claim: a status with named source and tag is exact, also after a shorter message; and a copy of it answers like the
 * status itself, also after other calls.
 * defers: receive
 * passes: nothing */
#include "check.h"

static void status_exact(void)
{
    enum { SENT = CHECK_LARGE_BYTES / 2 + 3 };
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_send_late(buffer, SENT, 1, 0, 17);
        return;
    }
    MPI_Status status;
    memset(&status, 0x5a, sizeof status);
    MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 17, MPI_COMM_WORLD, &status);
    check(status.MPI_SOURCE == 1, "MPI_SOURCE is the named source");
    check(status.MPI_TAG == 17, "MPI_TAG is the named tag");
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == SENT, "MPI_Get_count gives what was sent, not what was asked for");
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == MPI_UNDEFINED, "no whole number of ints was sent");
    MPI_Get_elements(&status, MPI_BYTE, &count);
    check(count == SENT, "MPI_Get_elements agrees");
    int is_cancelled = 1;
    MPI_Test_cancelled(&status, &is_cancelled);
    check(!is_cancelled, "the receive was not cancelled");
    check(check_is_filled(buffer, SENT, 1), "the data arrived");
    check(buffer[SENT] == 0xEE && buffer[CHECK_LARGE_BYTES - 1] == 0xEE, "bytes beyond the message stay as they were");
}

static void status_copy(void)
{
    enum { COUNT = 3, LENGTH = 200000 };
    unsigned char *buffers[COUNT];
    MPI_Status status, copies[COUNT];
    for (int i = 0; i < COUNT; i++)
        buffers[i] = check_buffer_new(LENGTH * (i + 2));
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        check_delay();
        check_send(buffers[i], LENGTH * (i + 1), 0, i);
    }
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        MPI_Recv(buffers[i], LENGTH * (i + 2), MPI_BYTE, 1, i, MPI_COMM_WORLD, &status);
        copies[i] = status; /* the program may reuse its status */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        int count = -1;
        MPI_Get_count(&copies[i], MPI_BYTE, &count);
        check(count == LENGTH * (i + 1), "the copy knows its own message's count");
        check(copies[i].MPI_TAG == i, "the copy knows its own message's tag");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    status_exact();
    MPI_Barrier(MPI_COMM_WORLD);
    status_copy();
    return check_end();
}
