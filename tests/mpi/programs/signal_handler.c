/* SPDX-License-Identifier: MIT */
/* Claim: a timer's handler that blocks all signals while it runs, be it there before MPI_Init or set after it, may use
 * memory beside a receive buffer at any time.
 * arguments: after before
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <sys/time.h>

#include "check.h"

enum { ROUNDS = 20 };

static struct {
    unsigned char buffer[300001];
    volatile int ticks;
} shared __attribute__((aligned(4096)));

static void tick(int number)
{
    (void)number;
    shared.ticks++;
}

static void handler_set(void)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
}

static void ticks_every(long interval_us)
{
    setitimer(ITIMER_REAL, &(struct itimerval){{0, interval_us}, {0, interval_us}}, NULL);
}

/* Late in every second round, so that a receive is sometimes deferred and sometimes over at once. */
static void exchange(int round)
{
    if (check_rank() == 0) {
        check_recv(shared.buffer, sizeof shared.buffer, 1, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        check(check_is_filled(shared.buffer, sizeof shared.buffer, round), "the message");
    } else {
        check_fill(shared.buffer, sizeof shared.buffer, round);
        if (round % 2)
            check_delay();
        check_send(shared.buffer, sizeof shared.buffer, 0, 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    bool is_before = strcmp(argv[1], "before") == 0;
    if (is_before)
        handler_set();
    check_start(&argc, &argv);
    if (!is_before)
        handler_set();
    ticks_every(1000);
    for (int round = 0; round < ROUNDS; round++)
        exchange(round);
    ticks_every(0);
    check(shared.ticks > ROUNDS, "the handler ran");
    return check_end();
}
