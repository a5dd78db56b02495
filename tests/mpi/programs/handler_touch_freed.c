/* SPDX-License-Identifier: MIT */
/* Claim: a timer's handler may write what was sent by a request that was freed once the receiver has answered, while
 * its thread is inside MPI as well.
 * defers: receive
 * timeout: 30
 * quick: openmpi4 mpich4
 * environment: LAPWING_MATCH=off */
#include <signal.h>
#include <sys/time.h>

#include "check.h"

enum { ROUNDS = 10, TICK_US = 100, LENGTH = 16 * CHECK_LARGE_BYTES, DATA = 0, ANSWER = 1, DONE = 2 };

static unsigned char *buffer;
static volatile bool is_answered;

static void handle_tick(int number)
{
    (void)number;
    if (is_answered)
        buffer[LENGTH - 1] = buffer[LENGTH / 2] = 1;
}

static void rank_send(unsigned round)
{
    MPI_Request request;
    int is_done = 0;
    check_fill(buffer, LENGTH, round);
    check_delay(); /* the receive has returned early */
    MPI_Isend(buffer, LENGTH, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    check_recv(&(char){0}, 1, 1, ANSWER);
    is_answered = true;
    while (!is_done)
        MPI_Iprobe(1, DONE, MPI_COMM_WORLD, &is_done, MPI_STATUS_IGNORE);
    is_answered = false;
    check_recv(&(char){0}, 1, 1, DONE);
}

static void rank_receive(unsigned round)
{
    check_recv(buffer, LENGTH, 0, DATA);
    check_send(&(char){0}, 1, 0, ANSWER);
    check(check_is_filled(buffer, LENGTH, round), "the message as it was sent");
    check_send(&(char){0}, 1, 0, DONE);
}

int main(int argc, char **argv)
{
    struct itimerval every = {{0, TICK_US}, {0, TICK_US}};
    check_start(&argc, &argv);
    struct sigaction action = {.sa_handler = handle_tick, .sa_flags = SA_RESTART};
    buffer = check_buffer_new(LENGTH);
    if (check_rank() == 0) {
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &every, NULL);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            rank_send(round);
        else
            rank_receive(round);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    return check_end();
}
