/* SPDX-License-Identifier: MIT */
/* Claim: a timer's handler may read a message that is just beginning to be received while nothing else is
 * pending; the signal then waits until its thread has left MPI.
 * defers: receive
 * timeout: 30
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 200, TICK_US = 200, LATE_US = 500 };
static unsigned char *buffer;
static volatile unsigned sum;

static void handle_tick(int number)
{
    (void)number;
    sum += buffer[CHECK_LARGE_BYTES / 2];
}

/* The message is over before the next one begins: nothing is under way then. */
static void run_round(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        sum += buffer[0];
        return;
    }
    usleep(LATE_US);
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    struct sigaction action = {.sa_handler = handle_tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, TICK_US}, {0, TICK_US}};
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    sigaction(SIGALRM, &action, NULL);
    if (check_rank() == 0)
        setitimer(ITIMER_REAL, &every, NULL);
    for (int round = 0; round < ROUNDS; round++)
        run_round();
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    return check_end();
}
