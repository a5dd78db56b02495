/* SPDX-License-Identifier: MIT */
/* Claim: blocking messages between several ranks arrive: exchanges around a ring, a message that each passes on without
 * looking at it, and sends to all from one buffer.
 * ranks: 3 4
 * defers: any */
#include "check.h"

static void exchange_around(unsigned char *out, unsigned char *in)
{
    int rank = check_rank(), size = check_size();
    check_fill(out, CHECK_LARGE_BYTES, rank);
    for (int step = 1; step <= size; step++) {
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, (rank + 1) % size, 0, in, CHECK_LARGE_BYTES, MPI_BYTE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in[step] == check_byte(step, (rank + size - step) % size), "the data of `step` ranks ago");
        unsigned char *swap = in;
        in = out;
        out = swap;
    }
    check(check_is_filled(out, CHECK_LARGE_BYTES, rank), "the own data came home");
}

static void pass_on(unsigned char *buffer)
{
    int rank = check_rank(), last = check_size() - 1;
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            check_fill(buffer, CHECK_LARGE_BYTES, i);
        if (rank > 0)
            check_recv(buffer, CHECK_LARGE_BYTES, rank - 1, 0);
        if (rank < last)
            check_send(buffer, CHECK_LARGE_BYTES, rank + 1, 0);
        if (rank == last)
            check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "the message at the end of the chain");
    }
}

static void send_to_all(unsigned char *buffer)
{
    for (int i = 0; i < 5; i++) {
        if (check_rank() == 0) {
            check_fill(buffer, CHECK_LARGE_BYTES, i);
            for (int peer = check_size() - 1; peer > 0; peer--)
                check_send(buffer, CHECK_LARGE_BYTES, peer, i);
            continue;
        }
        check_recv(buffer, CHECK_LARGE_BYTES, 0, i);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, i), "the message");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *one = check_buffer_new(CHECK_LARGE_BYTES), *other = check_buffer_new(CHECK_LARGE_BYTES);
    exchange_around(one, other);
    pass_on(one);
    send_to_all(other);
    return check_end();
}
