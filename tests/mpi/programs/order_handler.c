/* SPDX-License-Identifier: MIT */
/* Claim: a signal handler may tell what the message that its process receives waits for.
 * ranks: 3
 * arguments: before after
 * quick: userfaultfd-user signal-1
 * timeout: 30 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { READY = 1, DATA = 2, SEED = 5, ROUNDS = 2, SECONDS = 1 };

static int pipe_ends; /* open for both */

static void answer(int number)
{
    (void)number;
    check(write(pipe_ends, "x", 1) == 1, "writing");
}

static void open_pipe(void)
{
    static char name[64] = "/tmp/order_handler_XXXXXX";
    if (check_rank() == 0) {
        check(mkdtemp(name) != NULL, "a folder");
        strcat(name, "/pipe");
        check(mkfifo(name, 0600) == 0, "a pipe");
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    pipe_ends = open(name, O_RDWR);
    check(pipe_ends >= 0, "opening");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0) {
        unlink(name);
        *strrchr(name, '/') = 0;
        rmdir(name);
    }
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
    char word;
    int other;
    check_recv(&other, sizeof other, 0, READY);
    check_delay();
    if (is_early) {
        check(kill(other, SIGUSR1) == 0, "kill()");
        check(read(pipe_ends, &word, 1) == 1, "the answer");
    }
    check_fill(buffer, CHECK_LARGE_BYTES, SEED);
    check_send(buffer, CHECK_LARGE_BYTES, 0, DATA);
    if (!is_early) {
        check_delay();
        check(kill(other, SIGUSR1) == 0, "kill()");
        check(read(pipe_ends, &word, 1) == 1, "the answer");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    bool is_early = strcmp(argv[1], "before") == 0;
    unsigned char *buffer = check_buffer_new(CHECK_LARGE_BYTES);
    open_pipe();
    if (is_early)
        signal(SIGUSR1, answer);
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank() == 0)
            receive(buffer, is_early);
        else if (check_rank() == 1)
            send(buffer, is_early);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
