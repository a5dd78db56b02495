/* SPDX-License-Identifier: MIT */
/* Claim: a read() from a pipe into a pending buffer is neither short nor lost.
 * defers: receive
 * quick: openmpi4 */
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    int ends[2];
    check(pipe(ends) == 0, "a pipe");
    if (check_rank() == 1) {
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        return check_end();
    }
    check_fill(buffer, 60000, 4);
    check(write(ends[1], buffer, 60000) == 60000, "filling the pipe");
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(read(ends[0], buffer + 100, 60000) == 60000, "read() gives all that the pipe holds");
    check(check_is_filled(buffer + 100, 60000, 4), "what the pipe held");
    check(buffer[99] == 0xEE && buffer[60100] == 0xEE, "the message around it");
    return check_end();
}
