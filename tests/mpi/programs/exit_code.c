/* SPDX-License-Identifier: MIT */
/* Claim: the program's exit code reaches the launcher's.
 * exit: 7 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
    if (check_rank() == 1)
        check_recv(buffer, CHECK_LARGE_BYTES, 0, 0);
    check_end();
    return 7;
}
