/* SPDX-License-Identifier: MIT */
/* Prints what each of several large MPI_Recvs runs inside the preload, function by function: their addresses, from the
 * beginning of the preload's file, one receive a line. For a preload built with -finstrument-functions
 * (tools/measure_way.py), which calls the two functions below; link with -rdynamic. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS_MAX = 100000, BYTES = 1 << 20, RECEIVES = 24 };
enum { LATE_US = 30000, COMPUTED_US = 15000, APART_US = 1000 };

static void *steps[STEPS_MAX];
static int step_count;
static int ends[RECEIVES]; /* step_count after each */
static bool is_tracing;
static pthread_t traced;

void __cyg_profile_func_enter(void *function, void *caller) __attribute__((no_instrument_function));
void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (is_tracing && pthread_equal(traced, pthread_self()) && step_count < STEPS_MAX)
        steps[step_count++] = function;
}

void __cyg_profile_func_exit(void *function, void *caller) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
}

/* Each message is late: so the receives return early, once the policy has seen that peers are late here, and the touch
 * waits. Then the engine ends the op, and the next receive finds nothing pending. */
static void receive(char *buffer)
{
    for (int i = 0; i < RECEIVES; i++) {
        is_tracing = true;
        MPI_Recv(buffer, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        is_tracing = false;
        ends[i] = step_count;
        usleep(COMPUTED_US);
        buffer[0] = 0;
        usleep(APART_US);
    }
}

static void print_steps(void)
{
    Dl_info info;
    for (int i = 0, receive = 0; receive < RECEIVES; receive++, putchar('\n'))
        for (; i < ends[receive]; i++)
            if (dladdr(steps[i], &info) != 0)
                printf("%#tx ", (char *)steps[i] - (char *)info.dli_fbase);
}

int main(int argc, char **argv)
{
    int rank;
    char *block = malloc(3 * BYTES);
    char *buffer = block + BYTES; /* not beside another mapping, where no memory may be held */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    traced = pthread_self();
    for (int i = 0; rank == 1 && i < RECEIVES; i++) {
        usleep(LATE_US);
        MPI_Send(buffer, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        receive(buffer);
    MPI_Finalize();
    if (rank == 0)
        print_steps();
    free(block);
    return 0;
}
