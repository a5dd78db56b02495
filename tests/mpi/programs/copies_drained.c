/* SPDX-License-Identifier: MIT */
/* Claim: a copy of a send can be taken while an earlier one is under way, although system calls wait for all that is:
 * UCX patches mmap() of libc, and what it calls instead is an entry of Lapwing's.
 * defers: send receive
 * environment: LAPWING_DRAIN_SYSTEM_CALLS=on LAPWING_SEND_BUFFERS=copy
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include "check.h"

enum { FIRST = CHECK_LARGE_BYTES, SECOND = 2 * CHECK_LARGE_BYTES };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *first = check_buffer_new(FIRST);
    unsigned char *received = check_buffer_new(FIRST);
    unsigned char *second = check_buffer_new(SECOND);
    if (check_rank() == 0) {
        check_fill(first, FIRST, 1);
        check_fill(second, SECOND, 2);
        check_send(first, FIRST, 1, 0);
        check_recv(received, FIRST, 1, 1);
        check_send(second, SECOND, 1, 2);
        check(check_is_filled(received, FIRST, 3), "what was received");
    } else {
        check_fill(received, FIRST, 3);
        check_delay(); /* all three are under way until then */
        check_recv(first, FIRST, 0, 0);
        check_send(received, FIRST, 0, 1);
        check_recv(second, SECOND, 0, 2);
        check(check_is_filled(first, FIRST, 1), "the first message");
        check(check_is_filled(second, SECOND, 2), "the second message");
    }
    return check_end();
}
