/* SPDX-License-Identifier: MIT */
/* Claim: a status with named source and tag is exact, also after a shorter message.
 * defers: receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { SENT = CHECK_LARGE_BYTES / 2 + 3 };
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_send_late(buffer, SENT, 1, 0, 17);
        return check_end();
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
    return check_end();
}
