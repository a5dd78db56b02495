/* SPDX-License-Identifier: MIT */
/* Claim: sends to several peers from one buffer all arrive.
 * ranks: 4
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < 5; i++) {
        if (check_rank() == 0) {
            check_fill(buffer, CHECK_LARGE_BYTES, i);
            for (int peer = check_size() - 1; peer > 0; peer--)
                check_send(buffer, CHECK_LARGE_BYTES, peer, i);
            continue;
        }
        check_recv(buffer, CHECK_LARGE_BYTES, 0, i);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "the message");
    }
    return check_end();
}
