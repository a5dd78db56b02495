/* SPDX-License-Identifier: MIT */
/* Claim: several sends to one peer arrive in the order of the calls.
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 6 };
    unsigned char *buffers[COUNT];
    for (int i = 0; i < COUNT; i++)
        buffers[i] = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; check_rank() == 0 && i < COUNT; i++) {
        check_fill(buffers[i], CHECK_LARGE_BYTES, i);
        check_send(buffers[i], CHECK_LARGE_BYTES, 1, 5);
    }
    for (int i = 0; check_rank() == 1 && i < COUNT; i++)
        check_recv(buffers[i], CHECK_LARGE_BYTES, 0, 5);
    for (int i = 0; i < COUNT; i++)
        check(check_is_filled(buffers[i], CHECK_LARGE_BYTES, i), "message i holds what send i sent");
    return check_end();
}
