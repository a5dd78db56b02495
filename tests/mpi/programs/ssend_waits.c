/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Ssend returns only after the receiver has called its receive.
 */
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    char path[64] = "/tmp/ssend_waits_XXXXXX";
    if (check_rank() == 0) {
        close(mkstemp(path));
        check_send(path, sizeof path, 1, 0);
        MPI_Ssend(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        check(access(path, F_OK) != 0, "the receiver removed the file before its receive");
    } else {
        check_recv(path, sizeof path, 0, 0);
        check_delay();
        unlink(path);
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
        check(buffer[7] == 0xEE, "the message");
    }
    return check_end();
}
