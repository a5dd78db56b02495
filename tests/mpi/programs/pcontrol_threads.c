/* SPDX-License-Identifier: MIT */
/* Claim: one thread may pause, resume and flush while others communicate.
 * flags: -pthread
 * passes: paused
 * quick: openmpi4 mpich4 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "check.h"

enum { LANES = 2, ROUNDS = 20 };
static MPI_Comm lanes[LANES];
static atomic_bool is_over;

static void *lane_run(void *lane_number)
{
    int lane = *(int *)lane_number, rank = check_rank(), peer = 1 - rank;
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    for (unsigned i = 0; i < ROUNDS; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 4 * i + 2 * lane + rank);
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, lanes[lane],
                     MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 4 * i + 2 * lane + peer), "this lane's message");
    }
    free(out);
    free(in);
    return NULL;
}

/* 0, 1, 2, and again, 100 us each. */
static void *switch_run(void *unused)
{
    const struct timespec pause = {0, 100000};
    (void)unused;
    for (int i = 0; !is_over; i++) {
        MPI_Pcontrol(i % 3);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* A last message while paused, so that there is one in any case. */
static void exchange_paused(void)
{
    int numbers[LANES] = {0, 1};
    MPI_Pcontrol(0);
    lane_run(&numbers[0]);
}

int main(int argc, char **argv)
{
    check_start_multiple(&argc, &argv);
    pthread_t threads[LANES], switcher;
    int numbers[LANES] = {0, 1};
    for (int i = 0; i < LANES; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &lanes[i]);
    pthread_create(&switcher, NULL, switch_run, NULL);
    for (int i = 0; i < LANES; i++)
        pthread_create(&threads[i], NULL, lane_run, &numbers[i]);
    for (int i = 0; i < LANES; i++)
        pthread_join(threads[i], NULL);
    is_over = true;
    pthread_join(switcher, NULL);
    exchange_paused();
    return check_end();
}
