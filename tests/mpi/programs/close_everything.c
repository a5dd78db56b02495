/* SPDX-License-Identifier: MIT */
/* Claim: a program that closes every descriptor that it did not open itself, as
 * daemons do, still finds its data, and open() gives it the lowest numbers.
 * defers: receive
 * quick: openmpi4 */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { FIRST_HIGH = 512, LAST_HIGH = 4096 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 1) {
        check_send_late(buffer, CHECK_LARGE_BYTES, 7, 0, 0);
        return check_end();
    }
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    for (int descriptor = FIRST_HIGH; descriptor < LAST_HIGH; descriptor++)
        close(descriptor);
    int opened = open("/dev/null", O_RDONLY);
    check(opened >= 0 && opened < FIRST_HIGH, "open() gives a low number");
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 7), "the message is whole");
    return check_end();
}
