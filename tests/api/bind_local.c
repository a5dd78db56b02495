/* SPDX-License-Identifier: MIT */
/* Claim: an MPI library that an interpreter loads for one module only (RTLD_LOCAL)
 * is found, by many threads that make the first call at once. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "fake_mpi.h"

/* As a module has it that was not linked with the library; weak, so that this links. */
#pragma weak MPI_Wtime

enum { THREAD_COUNT = 8 };

static _Atomic int is_go;

static void *call(void *result)
{
    while (!is_go)
        ;
    *(double *)result = MPI_Wtime();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREAD_COUNT];
    double results[THREAD_COUNT];
    int failures = 0;
    if (argc != 2 || MPI_Wtime == NULL || dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == NULL)
        return 2;
    for (int i = 0; i < THREAD_COUNT; i++)
        pthread_create(&threads[i], NULL, call, &results[i]);
    is_go = 1;
    for (int i = 0; i < THREAD_COUNT; i++) {
        pthread_join(threads[i], NULL);
        failures += results[i] != 42.5;
    }
    printf("%d of %d threads got a wrong answer\n", failures, THREAD_COUNT);
    return failures != 0;
}
