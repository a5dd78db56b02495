/* SPDX-License-Identifier: MIT */
/* Claim: when a rank dies, a peer that waits for its data ends with the job.
 * exit: nonzero
 * timeout: 30 */
#include <signal.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_delay();
        raise(SIGKILL);
    }
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    printf("not reached %d\n", buffer[0]);
    return check_end();
}
