/* SPDX-License-Identifier: MIT */
/* Claim: where the engine only works by request, a fork beside another thread's receive is one: the child sees the
 * message.
 * defers: receive
 * flags: -pthread
 * quick: openmpi4 mpich4
 * environment: LAPWING_PROGRESS=manual LAPWING_MATCH=off */
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 2 };

static unsigned char *buffer;
static sem_t has_received;
static sem_t has_forked;

static void *thread_receive(void *unused)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
        sem_post(&has_received);
        sem_wait(&has_forked);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message");
    }
    return unused;
}

static void rank_fork(void)
{
    pthread_t thread;
    sem_init(&has_received, 0, 0);
    sem_init(&has_forked, 0, 0);
    pthread_create(&thread, NULL, thread_receive, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        int result = -1;
        sem_wait(&has_received);
        pid_t child = fork();
        if (child == 0)
            _exit(check_is_filled(buffer, CHECK_LARGE_BYTES, round) ? 0 : 1);
        waitpid(child, &result, 0);
        check(WIFEXITED(result) && WEXITSTATUS(result) == 0, "the child sees the message");
        sem_post(&has_forked);
    }
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0) {
        rank_fork();
        return check_end();
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(buffer, CHECK_LARGE_BYTES, round);
        check_delay();
        check_send(buffer, CHECK_LARGE_BYTES, 0, 0);
    }
    return check_end();
}
