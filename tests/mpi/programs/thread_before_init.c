/* SPDX-License-Identifier: MIT */
/* Claim: threads that the program started before MPI_Init touch messages as later ones do.
 * flags: -pthread
 * defers: receive
 * quick: openmpi4
 * environment: LAPWING_MATCH=off */
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

enum { THREADS = 3 };

static unsigned char *buffer;
static sem_t has_work, is_done;
static unsigned seed;

static void *worker_run(void *unused)
{
    (void)unused;
    for (;;) {
        sem_wait(&has_work);
        if (buffer == NULL)
            return NULL;
        check(check_is_filled(buffer, CHECK_LARGE_BYTES, seed), "an old thread sees the message");
        sem_post(&is_done);
    }
}

static void all_look(int count)
{
    for (int i = 0; i < count; i++)
        sem_post(&has_work);
    for (int i = 0; buffer != NULL && i < count; i++)
        sem_wait(&is_done);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS + 1];
    int provided;
    sem_init(&has_work, 0, 0);
    sem_init(&is_done, 0, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker_run, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pthread_create(&threads[THREADS], NULL, worker_run, NULL);
    buffer = check_buffer_new(CHECK_LARGE_BYTES);
    for (seed = 0; seed < 8; seed++) {
        if (check_rank() == 0) {
            check_recv(buffer, CHECK_LARGE_BYTES, 1, 0);
            all_look(THREADS + 1);
            continue;
        }
        check_send_late(buffer, CHECK_LARGE_BYTES, seed, 0, 0);
    }
    buffer = NULL;
    all_look(THREADS + 1);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    return check_end();
}
