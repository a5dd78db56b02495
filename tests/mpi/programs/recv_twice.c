/* SPDX-License-Identifier: MIT */
/* Claim: of two receives into one buffer, the later one wins.
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < 10; i++) {
        if (check_rank() == 0) {
            check_recv(buffer, CHECK_LARGE_BYTES, 1, 1);
            check_recv(buffer + 1000, CHECK_LARGE_BYTES / 2, 1, 2);
            check(check_is_filled(buffer + 1000, CHECK_LARGE_BYTES / 2, 2), "the second message");
            check(check_is_filled(buffer, 1000, 1), "the first, where the second did not write");
            continue;
        }
        check_fill(buffer, CHECK_LARGE_BYTES, 1);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
        check_fill(buffer, CHECK_LARGE_BYTES, 2);
        check_send(buffer, CHECK_LARGE_BYTES / 2, 0, 2);
    }
    return check_end();
}
