/* SPDX-License-Identifier: MIT */
/* Claim: with --pcontrol off the levels mean nothing to Lapwing.
 * defers: any
 * environment: LAPWING_PCONTROL=off
 * quick: openmpi4 */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Pcontrol(0);
    if (check_rank() == 1) {
        check_fill(buffer, CHECK_LARGE_BYTES, 1);
        check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 1);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, 1), "the message");
    }
    return check_end();
}
