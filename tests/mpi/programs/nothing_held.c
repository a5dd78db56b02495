/* SPDX-License-Identifier: MIT */
/* Claim: where no memory may be held (--hold none, as with RDMA devices), sends
 * return early from copies, nonblocking operations go on, and receives are passed.
 * defers: send
 * assists: any
 * passes: holds_off
 * environment: LAPWING_HOLD=none
 * quick: openmpi4 */
#include "check.h"

enum { LENGTH = CHECK_LARGE_BYTES, ROUNDS = 20, BOTH = 2 };

static void send_and_rewrite(unsigned char *buffer)
{
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        check_fill(buffer, LENGTH, seed);
        check_send(buffer, LENGTH, 1, (int)seed);
        memset(buffer, 0xFF, LENGTH);
    }
}

static void receive_late(unsigned char *buffer)
{
    check_delay();
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        check_recv(buffer, LENGTH, 0, (int)seed);
        check(check_is_filled(buffer, LENGTH, seed), "the bytes as they were at the call");
    }
}

static void exchange(unsigned char *sent, unsigned char *received)
{
    MPI_Request requests[BOTH];
    int peer = check_rank() ^ 1;
    check_fill(sent, LENGTH, (unsigned)check_rank());
    MPI_Irecv(received, LENGTH, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LENGTH, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]);
    check_delay();
    MPI_Waitall(BOTH, requests, MPI_STATUSES_IGNORE);
    check(check_is_filled(received, LENGTH, (unsigned)peer), "the peer's message");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *one = check_buffer_new(LENGTH), *other = check_buffer_new(LENGTH);
    if (check_rank() == 0)
        send_and_rewrite(one);
    else
        receive_late(one);
    for (int i = 0; i < ROUNDS; i++)
        exchange(one, other);
    return check_end();
}
