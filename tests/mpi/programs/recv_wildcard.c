/* SPDX-License-Identifier: MIT */
/* Claim: receives with MPI_ANY_SOURCE and MPI_ANY_TAG report who sent what; take each message once, in order per
 * sender, with MPI_STATUS_IGNORE too; and report none as cancelled, whatever the status held before. (MPICH's probes
 * leave that bit of a status alone; its receives do not.)
 * ranks: 3 */
#include "check.h"

enum { LENGTH = 300000, COUNT = 4 };

static void recv_reported(unsigned char *buffer)
{
    int seen = 0;
    for (int i = 1; i < check_size(); i++) {
        MPI_Status status;
        int count, is_cancelled = -1;
        memset(&status, 0xFF, sizeof status);
        MPI_Recv(buffer, LENGTH, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Test_cancelled(&status, &is_cancelled);
        check(status.MPI_TAG == 100 + status.MPI_SOURCE, "tag and source belong together");
        check(count == LENGTH - status.MPI_SOURCE, "so does the count");
        check(check_is_filled(buffer, count, status.MPI_SOURCE), "so does the data");
        check(is_cancelled == 0, "the message was not cancelled");
        seen |= 1 << status.MPI_SOURCE;
    }
    check(seen == 6, "both peers were heard, once each");
}

static void recv_ignored(unsigned char *buffer)
{
    for (int i = 0; i < COUNT; i++) {
        check_recv(buffer, LENGTH, MPI_ANY_SOURCE, MPI_ANY_TAG);
        check(check_is_filled(buffer, LENGTH, i), "message i is the i-th sent");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(LENGTH);
    for (int turn = 0; turn < COUNT; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 0)
            recv_reported(buffer);
        if (check_rank() == 0)
            continue;
        check_fill(buffer, LENGTH, check_rank());
        if (turn == 0)
            check_delay();
        check_send(buffer, LENGTH - check_rank(), 0, 100 + check_rank());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        recv_ignored(buffer);
    for (int i = 0; check_rank() == 1 && i < COUNT; i++) {
        check_fill(buffer, LENGTH, i);
        check_send(buffer, LENGTH, 0, 3);
    }
    return check_end();
}
