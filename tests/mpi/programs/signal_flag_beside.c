/* SPDX-License-Identifier: MIT */
/* Claim: the handler of a batch system's signal may set a flag beside a message, whatever its thread does in MPI.
 * arguments: 15 2 18
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 2, LENGTH = 300001, GO = 1, DATA = 2 };

static struct {
    unsigned char buffer[LENGTH];
    volatile sig_atomic_t is_told;
} shared __attribute__((aligned(4096)));

static void tell(int number)
{
    (void)number;
    shared.is_told = 1;
}

/* The message can only go on when its rank has left MPI_Allreduce's beginning, where the signal meets it. */
static void rank_told(bool is_sending)
{
    int own = getpid();
    shared.is_told = 0;
    check_send(&own, sizeof own, 1, GO);
    if (is_sending)
        check_send(shared.buffer, LENGTH, 1, DATA);
    else
        check_recv(shared.buffer, LENGTH, 1, DATA);
}

static void rank_telling(bool is_receiving, int number)
{
    int other;
    check_recv(&other, sizeof other, 0, GO);
    check_delay();
    check(kill(other, number) == 0, "kill()");
    check_delay();
    if (is_receiving)
        check_recv(shared.buffer, LENGTH, 0, DATA);
    else
        check_send(shared.buffer, LENGTH, 0, DATA);
}

int main(int argc, char **argv)
{
    int one = 1, sum = 0, number = argc > 1 ? atoi(argv[1]) : SIGTERM;
    check_start(&argc, &argv);
    check(sigaction(number, &(struct sigaction){.sa_handler = tell, .sa_flags = SA_RESTART}, NULL) == 0, "sigaction()");
    for (int round = 0; round < 2 * ROUNDS; round++) {
        if (check_rank() == 0)
            rank_told(round % 2);
        else
            rank_telling(round % 2, number);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(check_rank() != 0 || shared.is_told, "the handler ran");
    }
    return check_end();
}
