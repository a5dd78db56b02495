/* SPDX-License-Identifier: MIT */
/* Claim: a crash of the program while ops are pending ends the job as without them.
 * exit: nonzero
 * timeout: 30 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        *(volatile int *)16 = 1;
    }
    check_delay();
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
