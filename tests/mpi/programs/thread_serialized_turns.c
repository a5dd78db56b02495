/* SPDX-License-Identifier: MIT */
/* Claim: threads that take turns in MPI receive, send and touch each other's messages.
 * flags: -pthread
 * defers: send receive
 * environment: LAPWING_MATCH=off */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, TURNS = 24 };

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *buffers[THREADS];
static int turns;

/* One message each turn; the buffer of the turn before is another thread's. */
static void take_turn(int turn)
{
    unsigned char *buffer = buffers[turn % THREADS], *before = buffers[(turn + THREADS - 1) % THREADS];
    if (check_rank() == turn % 2) {
        check_fill(buffer, CHECK_LARGE_BYTES, turn);
        check_send(buffer, CHECK_LARGE_BYTES, 1 - check_rank(), turn);
    } else {
        check_recv(buffer, CHECK_LARGE_BYTES, 1 - check_rank(), turn);
    }
    if (turn > 0)
        check(check_is_filled(before, CHECK_LARGE_BYTES, turn - 1), "the message of the turn before");
}

static void *thread_run(void *unused)
{
    (void)unused;
    for (int is_over = 0; !is_over;) {
        pthread_mutex_lock(&turn_lock);
        is_over = turns == TURNS;
        if (!is_over)
            take_turn(turns++);
        pthread_mutex_unlock(&turn_lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    for (int i = 0; i < THREADS; i++)
        buffers[i] = check_buffer_new(CHECK_LARGE_BYTES);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return check_end();
}
