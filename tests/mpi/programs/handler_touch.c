/* SPDX-License-Identifier: MIT */
/* Claim: a timer's handler may touch a received or sent buffer at any time, also while its thread is inside MPI.
 * defers: any
 * arguments: test wait barrier recv
 * timeout: 30
 * quick: openmpi4 mpich4 */
#include <signal.h>
#include <sys/time.h>

#include "check.h"

static unsigned char *buffer;
static volatile bool is_ready; /* MPI_Recv or MPI_Send has returned: the buffer is the program's */
static volatile unsigned sum;

static void handle_tick(int number)
{
    (void)number;
    if (!is_ready)
        return;
    sum += buffer[CHECK_LARGE_BYTES / 2];
    buffer[CHECK_LARGE_BYTES / 3] = 1;
}

/* Calls of MPI in the way of the pending message. */
static void call_mpi(const char *way, int peer)
{
    int flag;
    char word = 0, other = 0;
    MPI_Request request;
    if (strcmp(way, "test") == 0)
        for (int i = 0; i < 20000; i++)
            MPI_Iprobe(peer, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (strcmp(way, "barrier") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "recv") == 0)
        MPI_Sendrecv(&word, 1, MPI_CHAR, peer, 8, &other, 1, MPI_CHAR, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(way, "wait") == 0) {
        MPI_Irecv(&other, 1, MPI_CHAR, peer, 9, MPI_COMM_WORLD, &request);
        check_send(&word, 1, peer, 9);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    struct sigaction action = {.sa_handler = handle_tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 300}, {0, 300}};
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int round = 0; round < 20; round++) {
        is_ready = false;
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank() == round % 2)
            check_recv(buffer, CHECK_LARGE_BYTES, 1 - check_rank(), 0);
        else
            check_send(buffer, CHECK_LARGE_BYTES, 1 - check_rank(), 0);
        is_ready = true;
        call_mpi(argv[1], 1 - check_rank());
    }
    is_ready = false;
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    return check_end();
}
