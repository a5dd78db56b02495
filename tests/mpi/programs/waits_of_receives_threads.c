/* SPDX-License-Identifier: MIT */
/* Claim: another thread that opens files, or sets a signal handler, while a large nonblocking receive is under way,
 * takes nothing of its message, and is not held up until another call of MPI returns. Nor does fork wait for a message
 * that the program has not waited for: its sender may need what follows.
 * arguments: waited handled forked
 * flags: -pthread
 * environment: LAPWING_RECEIVE_WAITS=on
 * quick: openmpi4 mpich4 userfaultfd signal-1 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* SENDS: more than an op takes. */
enum { LARGE = CHECK_LARGE_BYTES, SENDS = 33, ROUNDS = 8, DATA = 100, FIRST = 101, NEXT = 102 };

static _Atomic bool is_over;

static void open_one(void)
{
    int file = open("/dev/null", O_RDONLY);
    check(file >= 0 && close(file) == 0, "the other thread's file");
}

static void *open_many(void *unused)
{
    while (!atomic_load(&is_over))
        open_one();
    return unused;
}

static void receive_waited(unsigned char *in, const unsigned char *out)
{
    MPI_Request requests[SENDS + 1];
    pthread_t thread;
    check(pthread_create(&thread, NULL, open_many, NULL) == 0, "a thread");
    for (unsigned round = 0; round < ROUNDS; round++) {
        memset(in, 0xBB, LARGE);
        MPI_Irecv(in, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &requests[SENDS]);
        for (int i = 0; i < SENDS; i++)
            MPI_Isend(out, LARGE, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(SENDS + 1, requests, MPI_STATUSES_IGNORE);
        check(check_is_filled(in, LARGE, round), "the message");
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}

static void send_waited(unsigned char *in, unsigned char *out)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_delay();
        for (int i = 0; i < SENDS; i++)
            check_recv(in, LARGE, 0, i);
        check_delay();
        check_fill(out, LARGE, round);
        check_send(out, LARGE, 0, DATA);
    }
}

static void handle(int number)
{
    (void)number;
}

/* Rank 1 duplicates the communicator once it hears of the thread. */
static void *handle_beside(void *ends)
{
    check_delay();
    check(signal(SIGUSR1, handle) != SIG_ERR, "a handler");
    check(write(*(int *)ends, "", 1) == 1, "the pipe");
    return ends;
}

static void receive_handled(unsigned char *in, int *end)
{
    MPI_Request request;
    MPI_Comm copy;
    pthread_t thread;
    MPI_Irecv(in, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    check(pthread_create(&thread, NULL, handle_beside, end) == 0, "a thread");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    check(check_is_filled(in, LARGE, 1), "the message");
}

static void send_handled(unsigned char *out, int end)
{
    MPI_Comm copy;
    char heard;
    check_fill(out, LARGE, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    check(read(end, &heard, 1) == 1, "the pipe");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
    check_send(out, LARGE, 0, DATA);
}

static void play_waited(unsigned char *in, unsigned char *out)
{
    check_fill(out, LARGE, 0);
    if (check_rank() == 0)
        receive_waited(in, out);
    else
        send_waited(in, out);
}

static void play_handled(unsigned char *in)
{
    int pipe = check_pipe();
    if (check_rank() == 0)
        receive_handled(in, &pipe);
    else
        send_handled(in, pipe);
}

static void fork_once(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    check(child > 0 && waitpid(child, NULL, 0) == child, "the child");
}

/* The first message is under way, too, when the process forks. */
static void receive_forked(unsigned char *in, unsigned char *first)
{
    MPI_Request request;
    pthread_t thread;
    check(pthread_create(&thread, NULL, open_many, NULL) == 0, "a thread");
    MPI_Irecv(in, LARGE, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    check_recv(first, LARGE, 1, FIRST);
    fork_once();
    check_send(first, 1, 1, NEXT);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(check_is_filled(in, LARGE, 1), "the message");
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}

static void send_forked(unsigned char *in, unsigned char *out)
{
    check_fill(out, LARGE, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    check_delay();
    check_send(out, LARGE, 0, FIRST);
    check_recv(in, 1, 0, NEXT);
    check_send(out, LARGE, 0, DATA);
}

static void play_forked(unsigned char *in, unsigned char *out)
{
    if (check_rank() == 0)
        receive_forked(in, out);
    else
        send_forked(in, out);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *in = check_buffer_new(LARGE), *out = check_buffer_new(LARGE);
    if (strcmp(argv[1], "waited") == 0)
        play_waited(in, out);
    else if (strcmp(argv[1], "handled") == 0)
        play_handled(in);
    else
        play_forked(in, out);
    return check_end();
}
