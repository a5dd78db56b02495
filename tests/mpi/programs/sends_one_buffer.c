/* SPDX-License-Identifier: MIT */
/* Claim: several pending sends from overlapping parts of one buffer all carry the right bytes.
 * defers: send */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 8, LENGTH = 300000, STEP = 33333 };
    unsigned char *buffer = check_buffer_new(LENGTH + COUNT * STEP);
    if (check_rank() == 0) {
        check_fill(buffer, LENGTH + COUNT * STEP, 1);
        for (int i = 0; i < COUNT; i++)
            check_send(buffer + i * STEP, LENGTH, 1, i);
        memset(buffer, 0, LENGTH + COUNT * STEP);
        return check_end();
    }
    check_delay();
    for (int i = 0; i < COUNT; i++) {
        check_recv(buffer, LENGTH, 0, i);
        for (size_t at = 0; at < LENGTH; at++)
            check(buffer[at] == check_byte(at + i * STEP, 1), "part i of the buffer as it was at send i");
    }
    return check_end();
}
