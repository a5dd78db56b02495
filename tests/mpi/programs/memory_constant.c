/* SPDX-License-Identifier: MIT */
/* Claim: read-only data can be sent. */
#include "check.h"

enum { LENGTH = 300000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    static const unsigned char constants[LENGTH] = {1, 2, 3, [LENGTH - 1] = 9};
    unsigned char *buffer = check_buffer_new(LENGTH);
    if (check_rank() == 0)
        check_send(constants, LENGTH, 1, 0);
    if (check_rank() == 1) {
        check_recv(buffer, LENGTH, 0, 0);
        check(buffer[2] == 3 && buffer[3] == 0 && buffer[LENGTH - 1] == 9, "the constants arrived");
    }
    return check_end();
}
