/* SPDX-License-Identifier: MIT */
/* Claim: many threads may touch a received buffer together.
 * flags: -fopenmp
 * defers: receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    enum { COUNT = 10 };
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < COUNT; i++) {
        if (check_rank() == 1) {
            check_send_late(buffer, CHECK_LARGE_BYTES, i, 0, 0);
            continue;
        }
        long wrong = 0;
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
        for (size_t at = 0; at < CHECK_LARGE_BYTES; at++)
            wrong += buffer[at] != check_byte(at, i);
        check(wrong == 0, "every thread sees the message");
    }
    return check_end();
}
