/* SPDX-License-Identifier: MIT */
/* Claim: a reduction function of the program is only run by the program's thread. */
#include "check.h"
#include "home_sum.h"

int main(int argc, char **argv)
{
    enum { ROUNDS = 10, COUNT = 1000 };
    static int ones[COUNT];
    static int sums[COUNT];
    check_start(&argc, &argv);
    MPI_Op operation = home_sum_make();
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        MPI_Iallreduce(ones, sums, COUNT, MPI_INT, operation, MPI_COMM_WORLD, &request);
        if (check_rank() == 0) {
            check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
            check_delay();
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message");
        } else {
            check_fill(buffer, CHECK_LARGE_BYTES, round);
            check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(sums[COUNT - 1] == 2, "the sum");
    }
    check(home_sum.elsewhere_count == 0, "never run by another thread");
    MPI_Op_free(&operation);
    return check_end();
}
