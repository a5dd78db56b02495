/* SPDX-License-Identifier: MIT */
/* Claim: where data are limited (RLIMIT_DATA, ulimit -d) MPI gets as much memory beside a receive as it gets without
 * Lapwing, here for small messages that nobody has asked for yet.
 * quick: openmpi4 userfaultfd */
#include "data_limit.h"

enum { MIB = 1 << 20, LENGTH = 128 * MIB, LEFT_BYTES = 30 * MIB, SMALL_BYTES = 2000, COUNT = 30000 };

static char small[SMALL_BYTES];

static void receive(unsigned char *message)
{
    data_limit(LENGTH + LEFT_BYTES);
    check_recv(message, LENGTH, 1, 1);
    check(check_is_filled(message, LENGTH, 2), "the message");
    for (int i = 0; i < COUNT; i++) {
        check_recv(small, SMALL_BYTES, 1, 2);
        check(small[0] == (char)i, "a small message");
    }
}

static void send(unsigned char *message)
{
    check_fill(message, LENGTH, 2);
    check_delay();
    for (int i = 0; i < COUNT; i++) {
        small[0] = (char)i;
        check_send(small, SMALL_BYTES, 0, 2);
    }
    check_send(message, LENGTH, 0, 1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *message = check_buffer_new(LENGTH);
    for (int i = 0; i < 3; i++) /* all threads run, which have memory of their own */
        check_exchange_late(message, CHECK_LARGE_BYTES, i, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        receive(message);
    else
        send(message);
    return check_end();
}
