/* SPDX-License-Identifier: MIT */
/* Claim: no store of a C11 thread beside a message that is received is lost.
 * flags: -pthread
 * defers: receive
 * quick: openmpi4
 * environment: LAPWING_MATCH=off */
#include <stdatomic.h>
#include <threads.h>
#include <time.h>

#include "check.h"

enum { ROUNDS = 50, LENGTH = 409600 };

static unsigned char area[LENGTH + 4096] __attribute__((aligned(4096)));
static atomic_bool is_over;

/* A counter on the message's last page; nobody else writes it. */
static int count(void *unused)
{
    volatile long *counter = (long *)(area + LENGTH + 104);
    long stored = 0;
    (void)unused;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        check(*counter == stored, "the counter is as it was stored");
        *counter = ++stored;
    }
    return 0;
}

static void send_late(int round)
{
    const struct timespec pause = {0, 1000000};
    int asked;
    MPI_Recv(&asked, 1, MPI_INT, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nanosleep(&pause, NULL);
    check_send(area, LENGTH + 50, 0, round);
}

static void receive(int round)
{
    MPI_Send(&round, 1, MPI_INT, 1, round, MPI_COMM_WORLD);
    check_recv(area, LENGTH + 50, 1, round);
    *(volatile unsigned char *)area = 1;
}

int main(int argc, char **argv)
{
    int provided;
    thrd_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (check_rank() == 0)
        check(thrd_create(&thread, count, NULL) == thrd_success, "a thread");
    for (int round = 0; round < ROUNDS; round++)
        check_rank() == 1 ? send_late(round) : receive(round);
    if (check_rank() == 0) {
        atomic_store(&is_over, true);
        thrd_join(thread, NULL);
        check_send(NULL, 0, 1, ROUNDS);
        check_recv(area, LENGTH, 1, ROUNDS); /* shares no page: deferred everywhere */
        return check_end();
    }
    check_recv(NULL, 0, 0, ROUNDS);
    check_delay();
    check_send(area, LENGTH, 0, ROUNDS);
    return check_end();
}
