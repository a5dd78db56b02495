/* SPDX-License-Identifier: MIT */
/* Claim: a message of 96 MiB arrives whole.
 * defers: any
 * timeout: 120 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { LENGTH = 96 << 20 };
    unsigned char *buffer = check_buffer_new(LENGTH);
    if (check_rank() == 0) {
        check_fill(buffer, LENGTH, 1);
        check_send(buffer, LENGTH, 1, 0);
        buffer[LENGTH / 2] = 0;
    } else {
        check_recv(buffer, LENGTH, 0, 0);
        check(check_is_filled(buffer, LENGTH, 1), "every byte");
    }
    return check_end();
}
