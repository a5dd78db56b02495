/* SPDX-License-Identifier: MIT */
/* Claim: a handler may touch what another thread has received since its own thread came into MPI.
 * flags: -pthread
 * timeout: 30
 * quick: openmpi4 mpich4
 * environment: LAPWING_MATCH=off */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 50, LATE_US = 2000, DATA = 1, WORD = 2 };

static unsigned char *buffer;
static _Atomic bool is_received;
static volatile unsigned sum;

static void handle(int number)
{
    (void)number;
    if (atomic_load(&is_received))
        sum += buffer[CHECK_LARGE_BYTES / 2];
}

/* Inside MPI while the other thread receives. */
static void *receive_words(void *unused)
{
    for (int round = 0; round < ROUNDS; round++)
        check_recv(&(char){0}, 1, 1, WORD);
    return unused;
}

static void rank_receive(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, receive_words, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        usleep(LATE_US / 2);
        check_recv(buffer, CHECK_LARGE_BYTES, 1, DATA);
        atomic_store(&is_received, true);
        pthread_kill(thread, SIGUSR1);
        usleep(LATE_US);
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, round), "the message");
        atomic_store(&is_received, false);
        check_send(&(char){0}, 1, 1, WORD);
    }
    pthread_join(thread, NULL);
}

static void rank_send(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        check_fill(buffer, CHECK_LARGE_BYTES, round);
        usleep(LATE_US);
        check_send(buffer, CHECK_LARGE_BYTES, 0, DATA);
        check_recv(&(char){0}, 1, 0, WORD);
        check_send(&(char){0}, 1, 0, WORD);
    }
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    check_start_multiple(&argc, &argv);
    sigaction(SIGUSR1, &action, NULL);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    if (check_rank() == 0)
        rank_receive();
    else
        rank_send();
    return check_end();
}
