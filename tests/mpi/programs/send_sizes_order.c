/* SPDX-License-Identifier: MIT */
/* Claim: messages of mixed sizes, some too small to be held, arrive in order.
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 40 };
    static const size_t sizes[] = {1, 300000, 100, 70000, 5000, 1 << 20, 8, 65536};
    for (int i = 0; i < COUNT; i++) {
        size_t length = sizes[i % 8];
        unsigned char *buffer = check_buffer_new(length);
        if (check_rank() == 0) {
            check_fill(buffer, length, i);
            check_send(buffer, length, 1, 5);
        } else {
            check_recv(buffer, length, 0, 5);
            check(check_is_filled(buffer, length, i), "message i holds what send i sent");
        }
        free(buffer);
    }
    return check_end();
}
