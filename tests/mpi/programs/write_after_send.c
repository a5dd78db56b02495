/* SPDX-License-Identifier: MIT */
/* Claim: a buffer can be read while its send is pending, and what is written after it does not change what arrives.
 * defers: send */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < 10; i++) {
        if (check_rank() == 1) {
            check_recv_late(buffer, CHECK_LARGE_BYTES, i, 0, 0, "the message as it was at the send");
            continue;
        }
        check_fill(buffer, CHECK_LARGE_BYTES, i);
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
        if (i % 2)
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "reads see the buffer");
        buffer[(i * 104729) % CHECK_LARGE_BYTES] = 0;
        memset(buffer, 0xAA, CHECK_LARGE_BYTES);
    }
    return check_end();
}
