/* SPDX-License-Identifier: MIT */
/* Claim: where no op can begin, two threads may duplicate two communicators at once, in another order on each rank.
 * environment: LAPWING_PROGRESS=off
 * defers: nothing
 * quick: openmpi4 mpich4 userfaultfd */
#include <pthread.h>

#include "check.h"

static struct {
    MPI_Comm comm;
    bool is_late;
} sides[2];

static void *duplicate(void *argument)
{
    int side = *(int *)argument;
    MPI_Comm copy;
    if (sides[side].is_late)
        check_delay();
    check(MPI_Comm_dup(sides[side].comm, &copy) == MPI_SUCCESS, "MPI_Comm_dup");
    MPI_Comm_free(&copy);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    check_start_multiple(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &sides[i].comm);
        sides[i].is_late = (check_rank() + i) % 2 != 0;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, duplicate, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&sides[i].comm);
    return check_end();
}
