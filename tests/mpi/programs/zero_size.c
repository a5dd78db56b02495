/* SPDX-License-Identifier: MIT */
/* Claim: empty messages and null buffers match and order like others. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Status status;
    int count = -1;
    if (check_rank() == 0) {
        check_send(NULL, 0, 1, 1);
        check_send(buffer, CHECK_LARGE_BYTES, 1, 1);
        check_send(buffer, 0, 1, 1);
        return check_end();
    }
    check_recv(NULL, 0, 0, 1);
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
    MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == 0, "the third message is empty");
    check(buffer[0] == 0xEE && buffer[CHECK_LARGE_BYTES - 1] == 0xEE, "the second was not");
    return check_end();
}
