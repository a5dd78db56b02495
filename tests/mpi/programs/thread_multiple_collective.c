/* SPDX-License-Identifier: MIT */
/* Claim: what one thread receives does not hold up another thread's collective, which the sender may wait for first: a
 * barrier; or, after many of them, small ones that name lists.
 * arguments: barrier lists
 * flags: -pthread
 * environment: LAPWING_MATCH=off */
#include <pthread.h>

#include "check.h"

enum { LENGTH = 1 << 19, CALLS = 40, RANKS_MOST = 4 };

static unsigned char *buffer;

static void gather(void)
{
    static int counts[RANKS_MOST], places[RANKS_MOST];
    int own = check_rank(), all[RANKS_MOST] = {0};
    for (int i = 0; i < check_size(); i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Allgatherv(&own, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    check(all[1] == 1, "the lists were followed");
    MPI_Reduce_scatter(all, &own, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(own == check_rank() * check_size(), "and in sums");
}

static void *thread_receive(void *comm)
{
    MPI_Recv(buffer, LENGTH, MPI_BYTE, 1, 5, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    check(check_is_filled(buffer, LENGTH, 7), "the message arrived");
    return NULL;
}

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void rank_receive(MPI_Comm comm, void (*collect)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_receive, &comm);
    check_delay(); /* the receive has begun */
    collect();
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start_multiple(&argc, &argv);
    void (*collect)(void) = strcmp(argv[1], "barrier") == 0 ? meet : gather;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    buffer = check_buffer_new(LENGTH);
    for (int i = 0; i < CALLS; i++)
        collect();
    if (check_rank() == 0) {
        rank_receive(comm, collect);
    } else {
        check_fill(buffer, LENGTH, 7);
        collect();
        MPI_Send(buffer, LENGTH, MPI_BYTE, 0, 5, comm);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
