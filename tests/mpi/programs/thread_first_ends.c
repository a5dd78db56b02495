/* SPDX-License-Identifier: MIT */
/* Claim: the initial thread may end while others go on, though its message, or another thread's, is under way: peers
 * cannot read the memory of a process by its number any more. What it cleans up at its end is cleaned up.
 * It ends by pthread_exit(), thrd_exit() or the system call; or so when another thread has sent.
 * arguments: posix c11 call other
 * flags: -pthread -fexceptions
 * defers: send
 * timeout: 60
 * quick: openmpi4 mpich4 */
#include <pthread.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "check.h"

enum { LENGTH = 4 * CHECK_LARGE_BYTES };

static const char *way;
static unsigned char *buffer;
static pthread_t first;
static pthread_barrier_t begun, sent;
static bool is_cleaned, is_cleaned_by_handler;

static void send(void)
{
    check_fill(buffer, LENGTH, 3);
    check_send(buffer, LENGTH, 1, 0);
}

static void receive_late(void)
{
    check_delay();
    check_recv(buffer, LENGTH, 0, 0);
    check(check_is_filled(buffer, LENGTH, 3), "the message");
}

static void check_first_has_ended(void)
{
    pthread_join(first, NULL);
    bool unwinds = strcmp(way, "call") != 0;
    check(is_cleaned == unwinds, "what a variable cleans up");
    check(is_cleaned_by_handler == unwinds, "what a handler cleans up");
}

/* In the thread that has initialized MPI and finalizes it. */
static void *play(void *unused)
{
    int provided;
    (void)unused;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    pthread_barrier_wait(&begun);
    if (check_rank() == 0 && strcmp(way, "other") == 0)
        send();
    pthread_barrier_wait(&sent);
    if (check_rank() == 0)
        check_first_has_ended();
    else
        receive_late();
    exit(check_end());
}

static void note_variable(int *variable)
{
    (void)variable;
    is_cleaned = true;
}

static void note_handler(void *unused)
{
    (void)unused;
    is_cleaned_by_handler = true;
}

static void end_first(void)
{
    __attribute__((cleanup(note_variable), unused)) int variable = 0;
    pthread_cleanup_push(note_handler, NULL);
    if (strcmp(way, "c11") == 0)
        thrd_exit(0);
    if (strcmp(way, "call") == 0)
        syscall(SYS_exit, 0);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argc;
    way = argv[1];
    first = pthread_self();
    buffer = check_buffer_new(LENGTH);
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&sent, NULL, 2);
    pthread_create(&thread, NULL, play, NULL);
    pthread_barrier_wait(&begun);
    if (check_rank() == 0 && strcmp(way, "other") != 0)
        send();
    pthread_barrier_wait(&sent);
    if (check_rank() == 0)
        end_first();
    pthread_join(thread, NULL);
    return 0;
}
