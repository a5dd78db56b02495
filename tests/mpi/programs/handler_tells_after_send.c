/* SPDX-License-Identifier: MIT */
/* Claim: a signal handler may tell the receiver of a large message, by a file or a signal, to receive it.
 * arguments: open kill
 * quick: userfaultfd-user signal-1
 * timeout: 30 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"

enum { SEED = 5, SECONDS = 1 };

static char path[64];
static bool is_by_kill;
static int other;
static volatile sig_atomic_t is_told;

/* In the sender, while it computes; with MPI alone mostly inside MPI_Send. */
static void tell(int number)
{
    (void)number;
    if (is_by_kill)
        check(kill(other, SIGUSR2) == 0, "kill()");
    else
        check(open(path, O_CREAT | O_WRONLY, 0600) >= 0, "open()");
}

static void hear(int number)
{
    (void)number;
    is_told = 1;
}

static void exchange_ids(void)
{
    int own = getpid();
    MPI_Sendrecv(&own, 1, MPI_INT, 1 - check_rank(), 0, &other, 1, MPI_INT, 1 - check_rank(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int sender = check_rank() == 0 ? own : other;
    snprintf(path, sizeof path, "/tmp/handler_tells_after_send_%d", sender);
}

static void send(unsigned char *buffer)
{
    check_fill(buffer, CHECK_LARGE_BYTES, SEED);
    check_send(buffer, CHECK_LARGE_BYTES, 1, 1);
    double begin = MPI_Wtime();
    while (MPI_Wtime() < begin + SECONDS)
        continue;
}

static void receive(unsigned char *buffer)
{
    check_delay();
    check(kill(other, SIGUSR1) == 0, "kill()");
    while (!is_told && access(path, F_OK) != 0)
        usleep(1000);
    check_recv(buffer, CHECK_LARGE_BYTES, 0, 1);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, SEED), "the message");
    unlink(path);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    is_by_kill = strcmp(argv[1], "kill") == 0;
    signal(SIGUSR1, tell);
    signal(SIGUSR2, hear);
    exchange_ids();
    if (check_rank() == 0)
        send(buffer);
    else
        receive(buffer);
    return check_end();
}
