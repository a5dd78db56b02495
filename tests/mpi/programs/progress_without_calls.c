/* SPDX-License-Identifier: MIT */
/* Claim: a transfer goes on while both sides compute and make no MPI call.
 * defers: receive */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(8 << 20);
    if (check_rank() == 0) {
        check_fill(buffer, 8 << 20, 1);
        check_delay(); /* a receive that comes late may find it all there, and is no op then */
        check_send(buffer, 8 << 20, 1, 0);
        check_delay();
        buffer[0]++; /* waits at most for the transfer */
    } else {
        check_recv(buffer, 8 << 20, 0, 0);
        check_delay();
        check_delay();
        check(check_is_filled(buffer, 8 << 20, 1), "the message");
    }
    return check_end();
}
