/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Abort ends the job with its code while ops are pending.
 * exit: 42 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0); /* never sent */
        check(buffer[0] == 1, "not reached");
    }
    check_delay();
    if (check_rank() == 1)
        MPI_Abort(MPI_COMM_WORLD, 42);
    return check_end();
}
