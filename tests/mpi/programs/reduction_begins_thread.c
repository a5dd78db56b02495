/* SPDX-License-Identifier: MIT */
/* Claim: a thread that a reduction function of the program begins gets its signals, with a message under way or none.
 * quick: openmpi4 mpich4 signal-1
 * arguments: alone beside */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

static pthread_t thread;
static int begun;
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

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    if (begun++ == 0)
        pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void sum(void)
{
    int one = 1;
    int all = 0;
    MPI_Op operation;
    MPI_Op_create(add, 1, &operation);
    MPI_Allreduce(&one, &all, 1, MPI_INT, operation, MPI_COMM_WORLD);
    check(all == check_size(), "the sum");
    MPI_Op_free(&operation);
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
    sum();
    if (begun != 0) {
        while (!is_there)
            usleep(1000);
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
    }
    return check_end();
}
