/* SPDX-License-Identifier: MIT */
/* Claim: a thread may fork, or run a command, while another thread receives what is only sent after that.
 * flags: -pthread
 * timeout: 40
 * quick: openmpi4 mpich4 signal-1
 * arguments: fork system spawn vfork
 * environment: LAPWING_MATCH=off */
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { GO = 1, DATA = 2, ROUNDS = 3 };

extern char **environ;

static unsigned char *buffer;

static pid_t spawn(void)
{
    char *words[] = {"true", NULL};
    pid_t child = -1;
    check(posix_spawnp(&child, "true", NULL, NULL, words, environ) == 0, "posix_spawnp()");
    return child;
}

static void run(const char *way)
{
    int result = -1;
    if (strcmp(way, "system") == 0) {
        check(system("true") == 0, "the command");
        return;
    }
    pid_t child = strcmp(way, "spawn") == 0 ? spawn() : strcmp(way, "vfork") == 0 ? vfork() : fork();
    if (child == 0)
        _exit(0);
    waitpid(child, &result, 0);
    check(result == 0, "the child");
}

static void *thread_receive(void *comm)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Recv(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 1, DATA, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, (unsigned)round), "the message");
    }
    return NULL;
}

static void rank_receive(const char *way, MPI_Comm comm)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_receive, &comm);
    for (int round = 0; round < ROUNDS; round++) {
        check_delay(); /* the receive has begun */
        run(way);
        run(way); /* who has waited in vain does not wait again */
        check_send(&round, sizeof round, 1, GO);
    }
    pthread_join(thread, NULL);
}

static void rank_send(MPI_Comm comm)
{
    for (int round = 0; round < ROUNDS; round++) {
        check_recv(&(int){0}, sizeof(int), 0, GO);
        check_fill(buffer, CHECK_LARGE_BYTES, (unsigned)round);
        MPI_Send(buffer, CHECK_LARGE_BYTES, MPI_BYTE, 0, DATA, comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start_multiple(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check_rank() == 0)
        rank_receive(argc > 1 ? argv[1] : "fork", comm);
    else
        rank_send(comm);
    MPI_Comm_free(&comm);
    return check_end();
}
