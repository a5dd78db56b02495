/* SPDX-License-Identifier: MIT */
/* Claim: a process that is stopped and continued at a touch (as checkpointers do) goes on as if nothing had been.
 * defers: receive
 * arguments: waiter sender
 * quick: openmpi4 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* A child of the process stops it for a moment, and continues it. */
static pid_t stopper_start(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    usleep(50000);
    kill(getppid(), SIGSTOP);
    usleep(200000);
    kill(getppid(), SIGCONT);
    _exit(0);
}

static void receive(unsigned char *buffer, bool is_stopped)
{
    pid_t stopper = is_stopped ? stopper_start() : 0;
    check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, 8), "the message");
    if (is_stopped)
        waitpid(stopper, NULL, 0);
}

static void send(unsigned char *buffer, bool is_stopped)
{
    pid_t stopper = is_stopped ? stopper_start() : 0;
    check_fill(buffer, CHECK_LARGE_BYTES, 8);
    if (!is_stopped)
        usleep(150000);
    check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    memset(buffer, 0, CHECK_LARGE_BYTES);
    if (is_stopped)
        waitpid(stopper, NULL, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    bool is_waiter = strcmp(argv[1], "waiter") == 0;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == 0)
            receive(buffer, is_waiter);
        else
            send(buffer, !is_waiter);
    }
    return check_end();
}
