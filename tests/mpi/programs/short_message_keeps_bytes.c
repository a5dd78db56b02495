/* SPDX-License-Identifier: MIT */
/* Claim: the bytes that a shorter message leaves alone stay as they were.
 * defers: receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    static const size_t lengths[] = {0, 1, 4095, 65536, 500001};
    for (int i = 0; i < 5; i++) {
        check_fill(buffer, CHECK_LARGE_BYTES, 50 + i);
        if (check_rank() == 1) {
            check_delay();
            check_send(buffer, lengths[i], 0, 0);
            continue;
        }
        check_fill(buffer, CHECK_LARGE_BYTES, 80 + i);
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        check(check_is_filled(buffer, lengths[i], 50 + i), "the message");
        for (size_t at = lengths[i]; at < CHECK_LARGE_BYTES; at++)
            check(buffer[at] == check_byte(at, 80 + i), "the rest");
    }
    return check_end();
}
