/* SPDX-License-Identifier: MIT */
/* Claim: MPI_Finalize completes what is pending, and the memory is free to use after it.
 * defers: any */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *untouched = check_buffer_new(CHECK_LARGE_BYTES), *touched = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank();
    check_fill(untouched, CHECK_LARGE_BYTES, 1);
    check_fill(touched, CHECK_LARGE_BYTES, 2);
    if (rank == 0) {
        check_send(untouched, CHECK_LARGE_BYTES, 1, 0);
        check_send(touched, CHECK_LARGE_BYTES, 1, 0);
        memset(touched, 0, CHECK_LARGE_BYTES);
    } else {
        memset(untouched, 0, CHECK_LARGE_BYTES);
        check_delay();
        check_recv(untouched, CHECK_LARGE_BYTES, 0, 0);
        check_recv(touched, CHECK_LARGE_BYTES, 0, 0);
        check(check_is_filled(touched, CHECK_LARGE_BYTES, 2), "the touched message");
    }
    check_end();
    if (!check_is_filled(untouched, CHECK_LARGE_BYTES, 1))
        return 9;
    memset(untouched, 0, CHECK_LARGE_BYTES);
    free(untouched);
    return 0;
}
