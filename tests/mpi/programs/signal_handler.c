/* SPDX-License-Identifier: MIT */
/* Claim: a timer's handler may use memory beside a receive buffer at any time. */
#include <signal.h>
#include <sys/time.h>

#include "check.h"

static struct {
    unsigned char buffer[300001];
    volatile int ticks;
} shared __attribute__((aligned(4096)));

static void tick(int number)
{
    (void)number;
    shared.ticks++;
}

int main(int argc, char **argv)
{
    enum { ROUNDS = 20 };
    check_start(&argc, &argv);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 1000}, {0, 1000}};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0) {
            check_recv(shared.buffer, sizeof shared.buffer, 1, 0);
            MPI_Barrier(MPI_COMM_WORLD);
            check(check_is_filled(shared.buffer, sizeof shared.buffer, round), "the message");
        } else {
            check_fill(shared.buffer, sizeof shared.buffer, round);
            check_send(shared.buffer, sizeof shared.buffer, 0, 0);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    return check_end();
}
