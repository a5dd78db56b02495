/* SPDX-License-Identifier: MIT */
/* Claim: the program's exit code reaches the launcher's.
 * exit: 7 */
#include <unistd.h>

#include "check.h"

enum { OUTPUT_US = 200000 }; /* for the launcher to read what rank 0 has printed */

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    if (check_rank() == 1)
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
    check_end();
    /* The launcher of Open MPI 5 ends a job at the first process that fails, and may lose what was just printed. */
    usleep(OUTPUT_US);
    return 7;
}
