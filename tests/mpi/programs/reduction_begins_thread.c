/* SPDX-License-Identifier: MIT */
/* Claim: a thread that a reduction function of the program begins gets its signals, with a message under way or none.
 * quick: openmpi4 mpich4 signal-1
 * arguments: alone beside */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "own_sum.h"

static atomic_int is_there;
static atomic_int is_handled;

static void handle(int number)
{
    (void)number;
    is_handled = 1;
}

static void *work(void *unused)
{
    enum { PATIENCE_STEPS = 300, STEP_US = 10000 };
    is_there = 1;
    for (int i = 0; i < PATIENCE_STEPS && !is_handled; i++)
        usleep(STEP_US);
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    bool are_open = sigismember(&mask, SIGTERM) == 0 && sigismember(&mask, SIGPROF) == 0;
    check(is_handled && are_open, "the thread gets its signals");
    return unused;
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    signal(SIGUSR1, handle);
    bool is_beside = strcmp(argv[1], "beside") == 0;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (is_beside && check_rank() == 0)
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
    if (is_beside && check_rank() == 1)
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    own_sum_make(work);
    if (own_sum.is_begun) {
        while (!is_there)
            usleep(1000);
        pthread_kill(own_sum.thread, SIGUSR1);
        pthread_join(own_sum.thread, NULL);
    }
    return check_end();
}
