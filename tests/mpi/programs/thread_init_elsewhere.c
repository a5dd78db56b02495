/* SPDX-License-Identifier: MIT */
/* Claim: a program that initialises and uses MPI in a thread of its own, not in main, is served.
 * flags: -pthread
 * defers: any
 * arguments: funneled serialized multiple */
#include <pthread.h>

#include "check.h"

static int level;
static char **arguments;
static int argument_count;

static void *communicator_run(void *unused)
{
    int provided, is_main = -1;
    (void)unused;
    MPI_Init_thread(&argument_count, &arguments, level, &provided);
    MPI_Is_thread_main(&is_main);
    check(is_main == 1, "this is MPI's main thread");
    unsigned char *out = check_buffer_new(CHECK_LARGE_BYTES), *in = check_buffer_new(CHECK_LARGE_BYTES);
    int rank = check_rank(), peer = 1 - rank;
    for (unsigned i = 0; i < 10; i++) {
        check_fill(out, CHECK_LARGE_BYTES, 2 * i + rank);
        MPI_Sendrecv(out, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0, in, CHECK_LARGE_BYTES, MPI_BYTE, peer, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(check_is_filled(in, CHECK_LARGE_BYTES, 2 * i + peer), "the message");
    }
    check_end();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const char *name = argc > 1 ? argv[1] : "funneled";
    level = strcmp(name, "multiple") == 0     ? MPI_THREAD_MULTIPLE
            : strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                              : MPI_THREAD_FUNNELED;
    argument_count = argc;
    arguments = argv;
    pthread_create(&thread, NULL, communicator_run, NULL);
    pthread_join(thread, NULL);
    return 0;
}
