/* SPDX-License-Identifier: MIT */
/* A sum by a reduction function of the program's own, which begins a thread when it is called first. */
#ifndef OWN_SUM_H
#define OWN_SUM_H

#include <pthread.h>

#include "check.h"

/* work: what the thread does. */
static struct {
    void *(*work)(void *unused);
    pthread_t thread;
    bool is_begun;
} own_sum;

static void own_sum_add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    if (!own_sum.is_begun)
        pthread_create(&own_sum.thread, NULL, own_sum.work, NULL);
    own_sum.is_begun = true;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Not every rank's function is called. */
static inline void own_sum_make(void *(*work)(void *unused))
{
    int one = 1;
    int all = 0;
    MPI_Op operation;
    own_sum.work = work;
    MPI_Op_create(own_sum_add, 1, &operation);
    MPI_Allreduce(&one, &all, 1, MPI_INT, operation, MPI_COMM_WORLD);
    check(all == check_size(), "the sum");
    MPI_Op_free(&operation);
}

#endif
