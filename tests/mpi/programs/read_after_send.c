/* SPDX-License-Identifier: MIT */
/* Claim: a send buffer can be read while its send is pending.
 * defers: send */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        check_fill(buffer, CHECK_LARGE_BYTES, 3);
        check_send(buffer, CHECK_LARGE_BYTES, 1, 0);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 3), "reads see the buffer");
    } else {
        check_recv_late(buffer, CHECK_LARGE_BYTES, 3, 0, 0, "the message arrived");
    }
    return check_end();
}
