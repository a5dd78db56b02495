/* SPDX-License-Identifier: MIT */
/* Claim: a program that calls exit() with a message pending may receive, and finalize MPI, in a handler of atexit.
 * defers: send */
#include <unistd.h>

#include "check.h"

static unsigned char *sent, *received;

static void finish(void)
{
    if (check_rank() == 0)
        check_recv(received, CHECK_LARGE_BYTES, 1, 1);
    check_end();
    if (!check_is_filled(received, CHECK_LARGE_BYTES, 3))
        _exit(9);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    sent = check_buffer_new(CHECK_LARGE_BYTES);
    received = check_buffer_new(CHECK_LARGE_BYTES);
    atexit(finish);
    check_fill(sent, CHECK_LARGE_BYTES, 3);
    if (check_rank() == 0) {
        check_send(sent, CHECK_LARGE_BYTES, 1, 0);
        exit(0);
    }
    check_delay();
    check_recv(received, CHECK_LARGE_BYTES, 0, 0);
    check_delay();
    check_send(sent, CHECK_LARGE_BYTES, 0, 1);
    return 0;
}
