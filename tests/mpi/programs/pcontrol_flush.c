/* SPDX-License-Identifier: MIT */
/* Claim: after MPI_Pcontrol(2) all that was received has arrived, though nobody has touched it.
 * defers: receive */
#include <time.h>

#include "check.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time); /* one host, one clock */
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void send_late(unsigned char *buffer)
{
    check_delay();
    double sent = now();
    memcpy(buffer, &sent, sizeof sent);
    check_send(buffer, CHECK_LARGE_BYTES, 0, 1);
}

static void receive(unsigned char *buffer)
{
    double sent;
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 1);
    MPI_Pcontrol(2);
    double flushed = now();
    memcpy(&sent, buffer, sizeof sent);
    check(flushed > sent, "flushed after the peer has sent");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < 3; i++) {
        if (check_rank() == 0)
            receive(buffer);
        else
            send_late(buffer);
    }
    return check_end();
}
