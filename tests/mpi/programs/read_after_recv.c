/* SPDX-License-Identifier: MIT */
/* Claim: the first access after a receive sees its data, wherever it falls and whether read or write.
 * defers: receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    static const size_t places[] = {0, CHECK_LARGE_BYTES - 1, CHECK_LARGE_BYTES / 2, 4096, 12345};
    for (int i = 0; i < 10; i++) {
        size_t place = places[i % 5];
        if (check_rank() == 1) {
            check_send_late(buffer, CHECK_LARGE_BYTES, i, 0, 0);
            continue;
        }
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        if (i % 2)
            buffer[place] = (unsigned char)~check_byte(place, i);
        unsigned char expected = i % 2 ? (unsigned char)~check_byte(place, i) : check_byte(place, i);
        check(buffer[place] == expected, "the first access");
        buffer[place] = check_byte(place, i);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "all the rest");
    }
    return check_end();
}
