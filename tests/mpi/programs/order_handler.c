/* SPDX-License-Identifier: MIT */
/* Claim: a signal handler may tell what the message that its process receives waits for.
 * ranks: 3
 * arguments: before sigset after
 * quick: userfaultfd-user signal-1
 * timeout: 30 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { READY = 1, DATA = 2, SEED = 5, ROUNDS = 2, SECONDS = 1, PATIENCE_MS = 100 };

static int pipe_ends; /* open for both */

static void answer(int number)
{
    (void)number;
    check(write(pipe_ends, "x", 1) == 1, "writing");
}

/* As often as needed: until the handler is there, the signal is ignored. */
static void ask(int other)
{
    char word;
    struct pollfd answers = {.fd = pipe_ends, .events = POLLIN};
    do
        check(kill(other, SIGUSR1) == 0, "kill()");
    while (poll(&answers, 1, PATIENCE_MS) == 0);
    check(read(pipe_ends, &word, 1) == 1, "the answer");
}

/* Those to a second signal that crossed the first one's answer. */
static void drop_answers(void)
{
    char word;
    struct pollfd answers = {.fd = pipe_ends, .events = POLLIN};
    while (poll(&answers, 1, 0) == 1)
        check(read(pipe_ends, &word, 1) == 1, "what is left");
}

/* With "after", the handler is there when the receive has returned, and the signal comes later still. */
static void receive(unsigned char *buffer, bool is_early)
{
    int own = getpid();
    check_send(&own, sizeof own, 1, READY);
    check_recv(buffer, CHECK_LARGE_BYTES, 1, DATA);
    if (!is_early)
        signal(SIGUSR1, answer);
    double begin = MPI_Wtime();
    while (MPI_Wtime() < begin + SECONDS)
        continue;
    check(check_is_filled(buffer, CHECK_LARGE_BYTES, SEED), "the message");
}

static void send(unsigned char *buffer, bool is_early)
{
    int other;
    drop_answers();
    check_recv(&other, sizeof other, 0, READY);
    check_delay();
    if (is_early)
        ask(other);
    check_fill(buffer, CHECK_LARGE_BYTES, SEED);
    check_send(buffer, CHECK_LARGE_BYTES, 0, DATA);
    if (!is_early) {
        check_delay();
        ask(other);
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void set_handler(const char *way, void (*handler)(int number))
{
    (strcmp(way, "sigset") == 0 ? sigset : signal)(SIGUSR1, handler);
}
#pragma GCC diagnostic pop

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    bool is_early = strcmp(argv[1], "after") != 0;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    pipe_ends = check_pipe();
    set_handler(argv[1], is_early ? answer : SIG_IGN);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            receive(buffer, is_early);
        else if (check_rank() == 1)
            send(buffer, is_early);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
